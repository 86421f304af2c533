//! The runner by itself, as `deskhand runner` starts it, and `deskhand interface`.

use std::{
    io::{Write, stderr},
    process::ExitCode,
};

use tokio::runtime;

fn main() -> ExitCode {
    let mut arguments = std::env::args();
    // Under this name it plays a machine without such interfaces.
    let is_without = arguments
        .next()
        .is_some_and(|path| path.ends_with("without-interface"));
    let result = match (arguments.next().as_deref(), arguments.next()) {
        (Some("interface"), _) if is_without => Err("there is no device".into()),
        (Some("interface"), Some(pid)) => make_interface(&pid),
        _ => run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without standard error, the error cannot be reported.
            let _ = writeln!(stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn make_interface(pid: &str) -> Result<(), Box<dyn std::error::Error>> {
    Ok(deskhand_sandbox::local::interface::make(pid.parse()?)?)
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build()?;
    Ok(runtime.block_on(deskhand_runner::run_for_server())?)
}
