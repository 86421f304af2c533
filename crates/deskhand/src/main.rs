//! The `deskhand` program: one binary that is the server, the command line and the runner.
//!
//! Only this crate knows all others; it wires them together.

mod attach;
mod audit;
mod cli;
mod client;
mod config;
mod cp;
mod data_dir;
mod decisions;
mod demo_shop;
mod descriptors;
mod doctor;
mod evals;
mod find;
mod interrupts;
mod jamie;
mod listen;
mod local_socket;
mod logging;
mod login;
mod mcp;
mod memory;
mod models;
mod models_check;
mod modes;
mod network;
mod output;
mod own_server;
mod people;
mod run;
mod runner;
mod secrets;
mod serve;
mod server;

use std::{future::Future, process::ExitCode};

use anyhow::Context;
use clap::Parser;
use tokio::runtime;

use crate::{
    cli::{Cli, Command, JamieArgs, ServeArgs},
    config::{Config, Environment, Flags, LoadConfigError},
};

fn main() -> ExitCode {
    // The TLS provider for all clients that do not choose one. This fails only if one is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    match carry_out(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            output::say(&format!("deskhand: {error:#}"));
            // Mistakes in the settings have the same exit code as mistakes on the command line.
            let is_mistake = error.downcast_ref::<LoadConfigError>().is_some();
            ExitCode::from(if is_mistake { 2 } else { 1 })
        }
    }
}

fn carry_out(cli: Cli) -> anyhow::Result<ExitCode> {
    let environment = Environment::of_this_process();
    let Cli { settings, command } = cli;
    let flags = settings.flags();
    modes::keep_new_files_private();
    let load = || config::load(&flags, &environment);
    match command {
        Command::Serve(args) => start_server(args, flags, &environment),
        Command::Run(args) => as_host(&load()?.config, |config| {
            run::run(&args, config, &environment)
        }),
        Command::Attach(args) => {
            let config = load()?.config;
            logging::start(&config.log, "error");
            on_one_thread(attach::attach(&args, &config, &environment))
        }
        Command::Mcp(args) => as_host(&load()?.config, |config| {
            mcp::mcp(&args, config, &environment)
        }),
        Command::Jamie(args) => run_bot(&args, &load()?.config, &environment),
        Command::Login(args) => as_client(&load()?.config, |config| {
            login::login(&args, config, &environment)
        }),
        Command::Decisions(args) => as_client(&load()?.config, |config| {
            decisions::list(&args, config, &environment)
        }),
        Command::Answer(args) => as_client(&load()?.config, |config| {
            decisions::answer(&args, config, &environment)
        }),
        Command::Models(args) => as_client(&load()?.config, |config| {
            models::models(&args, config, &environment)
        }),
        Command::Eval(args) => as_host(&load()?.config, |config| {
            evals::eval(&args, config, &environment)
        }),
        Command::Cp(args) => as_client(&load()?.config, |config| {
            cp::cp(&args, config, &environment)
        }),
        Command::User(args) => as_client(&load()?.config, |config| {
            people::user(&args, config, &environment)
        }),
        Command::Token(args) => as_client(&load()?.config, |config| {
            people::token(&args, config, &environment)
        }),
        Command::Secret(args) => as_client(&load()?.config, |config| {
            secrets::secret(&args, config, &environment)
        }),
        Command::Audit(args) => as_client(&load()?.config, |config| {
            audit::audit(&args, config, &environment)
        }),
        Command::Network(args) => as_client(&load()?.config, |config| {
            network::network(&args, config, &environment)
        }),
        Command::Prompt(args) => models::prompt(&args, &load()?.config).map(|()| ExitCode::SUCCESS),
        Command::Doctor(args) => {
            on_one_thread(doctor::doctor(&args, &load()?.config, &environment))
        }
        Command::Config => print(load()?.layers.to_string().trim_end()),
        Command::Openapi => print(&deskhand_server::openapi()),
        Command::Runner => on_one_thread(runner::run()),
        Command::Interface { pid } => {
            deskhand_sandbox::local::interface::make(pid)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::DemoShop(args) => on_one_thread(demo_shop::run(&args, &environment)),
        Command::EvalPages(args) => on_one_thread(done(evals::serve_pages(args))),
    }
}

/// Runs `deskhand serve`, whose own flags are settings too.
fn start_server(
    args: ServeArgs,
    flags: Flags,
    environment: &Environment,
) -> anyhow::Result<ExitCode> {
    let flags = Flags {
        listen: args.listen,
        database: args.database,
        ..flags
    };
    let config = config::load(&flags, environment)?.config;
    logging::start(&config.log, &config.log.level);
    memory::return_early();
    on_all_threads(done(serve::serve(&config)))
}

/// Runs a command that is a client of a server. It logs warnings, unless the settings choose a level.
fn as_client<'a, Work>(
    config: &'a Config,
    command: impl FnOnce(&'a Config) -> Work,
) -> anyhow::Result<ExitCode>
where
    Work: Future<Output = anyhow::Result<()>>,
{
    logging::start(&config.log, "warn");
    on_one_thread(done(command(config)))
}

/// Runs a command that starts a server of its own if there is none.
fn as_host<'a, Work>(
    config: &'a Config,
    command: impl FnOnce(&'a Config) -> Work,
) -> anyhow::Result<ExitCode>
where
    Work: Future<Output = anyhow::Result<ExitCode>>,
{
    logging::start(&config.log, "warn");
    on_all_threads(command(config))
}

fn run_bot(
    args: &JamieArgs,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<ExitCode> {
    logging::start(&config.log, "info");
    on_one_thread(done(jamie::jamie(args, config, environment)))
}

fn print(text: &str) -> anyhow::Result<ExitCode> {
    output::answer(text)?;
    Ok(ExitCode::SUCCESS)
}

async fn done(work: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<ExitCode> {
    work.await.map(|()| ExitCode::SUCCESS)
}

/// Runs `work` on this thread alone, which costs the least memory.
fn on_one_thread(work: impl Future<Output = anyhow::Result<ExitCode>>) -> anyhow::Result<ExitCode> {
    block_on(runtime::Builder::new_current_thread(), work)
}

/// Runs `work` on one thread per processor, at least two and at most eight.
///
/// With two, a thread that is busy for a moment does not hold up the rest.
fn on_all_threads(
    work: impl Future<Output = anyhow::Result<ExitCode>>,
) -> anyhow::Result<ExitCode> {
    let mut builder = runtime::Builder::new_multi_thread();
    let n_processors = std::thread::available_parallelism().map_or(2, usize::from);
    builder.worker_threads(n_processors.clamp(2, 8));
    block_on(builder, work)
}

fn block_on(
    mut builder: runtime::Builder,
    work: impl Future<Output = anyhow::Result<ExitCode>>,
) -> anyhow::Result<ExitCode> {
    let runtime = builder
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let ending = runtime.block_on(work);
    // Only blocking work can still be running, and nothing waits for it.
    runtime.shutdown_background();
    ending
}
