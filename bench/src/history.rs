//! Compares the input of a model in a long turn with sending everything again at every step, and measures how long it
//! takes to build.

mod context;
mod vendor;

use deskhand_core::event::EventBody;
use deskhand_testkit::{Server, ServerOptions, Watcher};

use self::vendor::{Alternative, Request, Vendor};
use crate::{
    desktop::ours::open_page,
    table::{Row, Table},
};

const N_STEPS: [usize; 2] = [50, 200];
const SHORT: usize = 100;
const LONG: usize = 300;
/// The maximum ratio of the long duration to the short one.
const MOST_TIMES: f64 = 3.3;

/// A model whose old pictures are dropped, many at a time.
const PRUNED: &str = "anthropic/claude-sonnet-4-5";
/// A model from whose conversation nothing may be dropped.
const APPENDED: &str = "anthropic/claude-opus-5-5";

pub(crate) async fn measure(program: &str) {
    for n_steps in N_STEPS {
        println!("Measuring what a model is sent in a turn of {n_steps} steps …");
        let pruned = turn(program, PRUNED, n_steps, 3).await;
        let appended = turn(program, APPENDED, n_steps, 3).await;
        for (peer, alternative) in [
            ("naive", naive as fn(&Request) -> Alternative),
            ("newest only", newest),
        ] {
            let mut table = Table::next_to(peer);
            let sent = |requests: &[Request]| mean(requests, |one| one.n_bytes as f64) / 1_000.0;
            let paid = |requests: &[Request]| mean(requests, Request::billed);
            let sent_there = |requests: &[Request]| {
                mean(requests, |one| alternative(one).n_bytes as f64) / 1_000.0
            };
            let paid_there =
                |requests: &[Request]| mean(requests, |one| alternative(one).n_tokens as f64);
            for (what, unit, ours, there) in [
                (
                    "sent a step, pruned",
                    "KB",
                    sent(&pruned),
                    sent_there(&pruned),
                ),
                (
                    "paid a step, pruned",
                    "tokens",
                    paid(&pruned),
                    paid_there(&pruned),
                ),
                (
                    "sent a step, append-only",
                    "KB",
                    sent(&appended),
                    sent_there(&appended),
                ),
                (
                    "paid a step, append-only",
                    "tokens",
                    paid(&appended),
                    paid_there(&appended),
                ),
            ] {
                table.add(Row::at_most(what, unit, ours, Some(there), 0.0).without_target());
            }
            println!("{table}");
        }
    }
    println!(
        "Naive is every picture again at every step, and newest only is the way of Anthropic's demo, which keeps three; both send \
         pictures as they\nare stored, and nothing is kept by the vendor. Paid is in tokens at the full price: what the vendor \
         reads from its cache counts a tenth,\nwhat it writes there five quarters. Four bytes of text are counted as a token."
    );

    println!("Measuring turns of {SHORT} and {LONG} steps …");
    let long = lasted(&turn(program, PRUNED, LONG, 3).await);
    let short = lasted(&turn(program, PRUNED, SHORT, 3).await);
    let (context, micros) = context::measure();
    let mut table = Table::next_to("");
    for (what, times) in [
        ("context, 300 steps to 100", context),
        ("turn, 300 steps to 100", long / short),
    ] {
        table.add(Row::at_most(what, "×", times, None, MOST_TIMES));
    }
    println!("{table}");
    println!(
        "The context is built from the log at every step, in {micros:.0} µs after {LONG} of them. The turn is all of it but the model's \
         time: {:.0} ms a step.",
        long / LONG as f64
    );
}

/// Returns the requests to the model in a turn of `n_steps` steps.
async fn turn(program: &str, model: &str, n_steps: usize, kept_images: usize) -> Vec<Request> {
    let vendor = Vendor::start(n_steps).await;
    let settings = [
        ("DESKHAND_TURN_MAX_STEPS", "1000".to_owned()),
        ("DESKHAND_TURN_KEPT_IMAGES", kept_images.to_string()),
    ];
    let variables = vendor.variables().into_iter().chain(settings);
    let server = Server::start(
        program,
        ServerOptions {
            variables: variables
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            ..ServerOptions::default()
        },
    );
    let session = server.client().new_session(model).await;
    let mut watcher = Watcher::open(&session).await;
    open_page(&session, &mut watcher).await;
    drop(watcher);
    session.prompt("Go.").await;
    let end = session.turn_end(0).await;
    assert!(matches!(end.body, EventBody::Complete(_)), "{end:?}");
    let requests = vendor.requests();
    assert_eq!(requests.len(), n_steps + 1);
    requests
}

fn naive(request: &Request) -> Alternative {
    request.naive
}

fn newest(request: &Request) -> Alternative {
    request.newest
}

fn mean(requests: &[Request], of: impl Fn(&Request) -> f64) -> f64 {
    requests.iter().map(of).sum::<f64>() / requests.len() as f64
}

/// Returns the time from the first request to the last, in milliseconds.
fn lasted(requests: &[Request]) -> f64 {
    let (first, last) = (&requests[0], &requests[requests.len() - 1]);
    (last.at - first.at).as_secs_f64() * 1_000.0
}
