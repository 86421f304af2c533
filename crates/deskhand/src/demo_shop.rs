//! `deskhand demo-shop`: the web shop that the built-in demo orders from.

use std::{net::SocketAddr, path::PathBuf, process::ExitCode};

use anyhow::Context;

use crate::{cli::DemoShopArgs, config::Environment};

/// Serves the shop on loopback until the process ends.
pub(crate) async fn run(
    args: &DemoShopArgs,
    environment: &Environment,
) -> anyhow::Result<ExitCode> {
    let orders = match &args.orders {
        Some(file) => file.clone(),
        None => {
            let home = environment.get("HOME");
            PathBuf::from(home.context("name a file for the orders with --orders FILE")?)
                .join("shop/orders.jsonl")
        }
    };
    let address = SocketAddr::from(([127, 0, 0, 1], args.port));
    deskhand_shop::serve(address, orders).await?;
    Ok(ExitCode::SUCCESS)
}
