//! `deskhand runner` and `deskhand demo-shop`: this program inside a sandbox.

use std::{net::SocketAddr, path::PathBuf, process::ExitCode};

use anyhow::Context;

use crate::{cli::DemoShopArgs, config::Environment};

/// Serves the desktop of the sandbox this runs in.
pub(crate) async fn run() -> anyhow::Result<ExitCode> {
    deskhand_runner::run_for_server().await?;
    Ok(ExitCode::SUCCESS)
}

/// Opens the shop of the demo.
pub(crate) async fn demo_shop(
    args: &DemoShopArgs,
    environment: &Environment,
) -> anyhow::Result<ExitCode> {
    let orders = match &args.orders {
        Some(file) => file.clone(),
        None => {
            let home = environment.get("HOME");
            PathBuf::from(home.context("say where to keep orders with --orders FILE")?)
                .join("shop/orders.jsonl")
        }
    };
    let address = SocketAddr::from(([127, 0, 0, 1], args.port));
    deskhand_runner::shop::shop(address, orders).await?;
    Ok(ExitCode::SUCCESS)
}
