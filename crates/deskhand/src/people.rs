//! `deskhand user` and `deskhand token`: users and their tokens, through the running server.

use std::time::Duration;

use deskhand_api::{
    budgets::UserLimitsView,
    tokens::CreateTokenBody,
    users::{CreateUserBody, InviteBody, UserView},
};
use deskhand_core::{
    clock::{Clock, SystemClock},
    user::{Scope, UserRole},
};

use crate::{
    cli::{TokenArgs, TokenCommand, UserArgs, UserCommand},
    client::Client,
    config::{Config, Environment},
    find::running_server,
    output,
};

const DAY: Duration = Duration::from_hours(24);

/// Runs `deskhand user`.
pub(crate) async fn user(
    args: &UserArgs,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<()> {
    let client = running_server(&args.server, config, environment).await?;
    match &args.command {
        UserCommand::Add { name, admin } => add_user(&client, name, *admin).await,
        UserCommand::List => list_users(&client).await,
        UserCommand::Disable { name } => disable_user(&client, name).await,
        UserCommand::Enable { name } => enable_user(&client, name).await,
        UserCommand::Limit {
            name,
            awake,
            per_day,
            idle,
            life,
            day_usd,
            day_tokens,
        } => {
            let limits = UserLimitsView {
                awake_sessions: *awake,
                sessions_per_day: *per_day,
                idle_seconds: *idle,
                life_seconds: *life,
                day_usd: *day_usd,
                day_tokens: *day_tokens,
            };
            limit_user(&client, name, &limits).await
        }
        UserCommand::Link { name, reset } => {
            let user = find_user(&client, name).await?;
            let wanted = InviteBody { reset: *reset };
            print_link(&client, &user, &wanted).await
        }
    }
}

async fn add_user(client: &Client, name: &str, is_admin: bool) -> anyhow::Result<()> {
    let role = if is_admin {
        UserRole::Admin
    } else {
        UserRole::Member
    };
    let wanted = CreateUserBody {
        name: name.to_owned(),
        role: Some(role),
    };
    let user = client.add_user(&wanted).await?;
    print_link(client, &user, &InviteBody::default()).await
}

async fn list_users(client: &Client) -> anyhow::Result<()> {
    for user in client.users().await? {
        let state = if user.active { "" } else { ", disabled" };
        output::answer(&format!("{}\t{}{state}", user.name, user.role.name()))?;
    }
    Ok(())
}

async fn disable_user(client: &Client, name: &str) -> anyhow::Result<()> {
    let user = find_user(client, name).await?;
    client.set_active(user.id, false).await?;
    output::say(&format!(
        "{} is disabled and signed out everywhere.",
        user.name
    ));
    Ok(())
}

async fn enable_user(client: &Client, name: &str) -> anyhow::Result<()> {
    let user = find_user(client, name).await?;
    client.set_active(user.id, true).await?;
    output::say(&format!(
        "{0} may sign in again: `deskhand user link {0} --reset` prints a link.",
        user.name
    ));
    Ok(())
}

async fn limit_user(client: &Client, name: &str, limits: &UserLimitsView) -> anyhow::Result<()> {
    let user = find_user(client, name).await?;
    client.set_limits(user.id, limits).await?;
    output::say(&format!(
        "The limits of {} are set. The settings decide the ones that were not given.",
        user.name
    ));
    Ok(())
}

/// Runs `deskhand token`.
pub(crate) async fn token(
    args: &TokenArgs,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<()> {
    let client = running_server(&args.server, config, environment).await?;
    match &args.command {
        TokenCommand::New { name, scope, days } => {
            let expires_at = days.map(|days| SystemClock.now() + DAY * days);
            let wanted = CreateTokenBody {
                name: name.clone(),
                scope: Some(*scope),
                expires_at,
            };
            let secret = client.make_token(&wanted).await?;
            output::answer(secret.expose())?;
            output::say("It is shown only this once; keep it in a safe place.");
            Ok(())
        }
        TokenCommand::List => {
            for token in client.tokens().await? {
                let end = token.expires_at.map_or("no expiry".to_owned(), |end| {
                    format!("until {}", end.strftime("%F"))
                });
                let used = token.last_used_at.map_or("never used".to_owned(), |at| {
                    format!("used {}", at.strftime("%F %R"))
                });
                let scope = token.scope.name();
                output::answer(&format!(
                    "{}…\t{}\t{scope}\t{end}\t{used}",
                    token.prefix, token.name
                ))?;
            }
            Ok(())
        }
        TokenCommand::Revoke { which } => {
            let tokens = client.tokens().await?;
            let which = which.trim_end_matches('…');
            let mut found = tokens.iter().filter(|token| {
                token.name == *which || token.prefix == which || token.id.to_string() == which
            });
            match (found.next(), found.next()) {
                (Some(token), None) => {
                    client.revoke_token(token.id).await?;
                    output::say(&format!("{} is revoked.", token.name));
                    Ok(())
                }
                (None, _) => {
                    anyhow::bail!("you have no token {which:?}; `deskhand token list` shows them")
                }
                (Some(one), Some(other)) => anyhow::bail!(
                    "several tokens are named {which:?}; use the beginning of one, such as {} or {}",
                    one.prefix,
                    other.prefix
                ),
            }
        }
    }
}

/// Parses a scope on the command line.
pub(crate) fn parse_scope(text: &str) -> Result<Scope, String> {
    Scope::from_name(text).ok_or_else(|| "the scopes are metrics, read, write and admin".to_owned())
}

pub(crate) async fn find_user(client: &Client, name: &str) -> anyhow::Result<UserView> {
    let users = client.users().await?;
    let found = users
        .into_iter()
        .find(|user| user.name.to_lowercase() == name.to_lowercase());
    found.ok_or_else(|| {
        anyhow::anyhow!("there is no user {name:?}; `deskhand user list` shows them")
    })
}

async fn print_link(client: &Client, user: &UserView, wanted: &InviteBody) -> anyhow::Result<()> {
    output::answer(&client.link_for(user.id, wanted).await?)?;
    output::say(&format!(
        "Send it to {}. It signs them in once, within a day.",
        user.name
    ));
    Ok(())
}
