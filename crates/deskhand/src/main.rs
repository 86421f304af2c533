//! The `deskhand` program: one binary that is the server, the command line and the runner.
//!
//! Only this crate knows all others; it wires them together.

mod cli;
mod client;
mod config;
mod data_dir;
mod decisions;
mod demo_shop;
mod doctor;
mod find;
mod interrupts;
mod logging;
mod login;
mod models;
mod output;
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
    cli::{Cli, Command},
    config::{Environment, Flags, LoadConfigError},
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
    let load = || config::load(&flags, &environment);
    match command {
        Command::Serve(args) => {
            let flags = Flags {
                listen: args.listen,
                database: args.database,
                ..flags
            };
            let config = config::load(&flags, &environment)?.config;
            logging::start(&config.log, &config.log.level);
            on_all_threads(done(serve::serve(&config)))
        }
        Command::Run(args) => {
            let config = load()?.config;
            logging::start(&config.log, "warn");
            on_all_threads(run::run(&args, &config, &environment))
        }
        Command::Login(args) => {
            let config = load()?.config;
            logging::start(&config.log, "warn");
            on_one_thread(done(login::login(&args, &config, &environment)))
        }
        Command::Decisions(args) => {
            let config = load()?.config;
            logging::start(&config.log, "warn");
            on_one_thread(done(decisions::list(&args, &config, &environment)))
        }
        Command::Answer(args) => {
            let config = load()?.config;
            logging::start(&config.log, "warn");
            on_one_thread(done(decisions::answer(&args, &config, &environment)))
        }
        Command::Models(args) => {
            let config = load()?.config;
            logging::start(&config.log, "warn");
            on_one_thread(done(models::list(&args, &config, &environment)))
        }
        Command::Prompt(args) => {
            models::prompt(&args, &load()?.config)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::User(args) => {
            let config = load()?.config;
            logging::start(&config.log, "warn");
            on_one_thread(done(people::user(&args, &config, &environment)))
        }
        Command::Token(args) => {
            let config = load()?.config;
            logging::start(&config.log, "warn");
            on_one_thread(done(people::token(&args, &config, &environment)))
        }
        Command::Secret(args) => {
            let config = load()?.config;
            logging::start(&config.log, "warn");
            on_one_thread(done(secrets::secret(&args, &config, &environment)))
        }
        Command::Doctor(args) => {
            let config = load()?.config;
            on_one_thread(doctor::doctor(&args, &config, &environment))
        }
        Command::Config => {
            output::answer(load()?.layers.to_string().trim_end())?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Openapi => {
            output::answer(&deskhand_server::openapi())?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Runner => on_one_thread(runner::run()),
        Command::DemoShop(args) => on_one_thread(demo_shop::run(&args, &environment)),
    }
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
