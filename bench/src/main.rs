//! `make bench`: the speed of Deskhand, next to the usual alternatives, measured in the same run.
//!
//! Absolute numbers depend on the machine and its other load. Look at the ratios.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and gives up when something goes wrong"
)]

mod api;
mod browser_mcp;
mod desktop;
mod files;
mod headless;
mod history;
mod hostile;
mod jamie;
mod load;
mod network;
mod process;
mod service;
mod site;
mod sleep;
mod step;
mod stream;
mod table;
mod terminal;
mod video;

const USAGE: &str =
    "usage: deskhand-bench DESKHAND PYTHON [PART…]; without parts, all are measured";

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let program = arguments.next().expect(USAGE);
    let python = arguments.next().expect(USAGE);
    let mut parts: Vec<String> = arguments.collect();
    if parts.is_empty() {
        parts = [
            "desktop", "step", "history", "api", "stream", "sleep", "terminal", "files", "network",
            "browser", "jamie", "video", "hostile",
        ]
        .map(str::to_owned)
        .to_vec();
    }
    for part in parts {
        match part.as_str() {
            "desktop" => desktop::measure(&program).await,
            "step" => step::measure(&program).await,
            "history" => history::measure(&program).await,
            "api" => api::measure(&program, &python).await,
            "stream" => stream::measure(&program, &python).await,
            "sleep" => sleep::measure(&program).await,
            "terminal" => terminal::measure(&program, &python).await,
            "hostile" => hostile::measure(&program).await,
            "network" => network::measure(&program),
            "browser" => {
                browser_mcp::measure(&program);
                headless::measure(&program).await;
            }
            "files" => files::measure(&program).await,
            "jamie" => jamie::measure(&program).await,
            "video" => video::measure(&program).await,
            other => panic!("there is no part {other}; {USAGE}"),
        }
    }
    let n_missed = table::n_missed();
    if n_missed > 0 {
        println!("Missed targets (✗): {n_missed}");
        std::process::exit(1);
    }
}
