//! `deskhand audit`: the audit log, through the running server.

use anyhow::bail;
use deskhand_api::audit::AuditEntryView;

use crate::{
    cli::AuditArgs,
    config::{Config, Environment},
    find::running_server,
    output,
    people::find_user,
};

/// Prints the newest entries, the oldest of them first.
pub(crate) async fn audit(
    args: &AuditArgs,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<()> {
    if let Some(action) = &args.action
        && !action
            .chars()
            .all(|letter| letter.is_ascii_lowercase() || "._".contains(letter))
    {
        bail!(
            "{action:?} is not an action; an action looks like token.created, a subject like token"
        );
    }
    let client = running_server(&args.server, config, environment).await?;
    let user = match &args.user {
        Some(name) => Some(find_user(&client, name).await?.id),
        None => None,
    };
    let page = client.audit(args.limit, user, args.action.as_deref());
    for entry in page.await?.entries.iter().rev() {
        output::answer(&line(entry))?;
    }
    Ok(())
}

fn line(entry: &AuditEntryView) -> String {
    let at = entry.at.strftime("%F %T");
    let who = entry.actor_name.as_deref().unwrap_or("the server");
    let from = entry.address.as_deref().unwrap_or("-");
    format!("{at}\t{from}\t{who} {}", entry.summary)
}
