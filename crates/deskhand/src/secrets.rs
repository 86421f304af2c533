//! `deskhand secret`: secrets that agents may use but never see, through the running server.

use std::io::{self, IsTerminal, Read};

use console::Term;
use deskhand_api::secrets::{HttpUseBody, PutSecretBody, SecretView};
use deskhand_core::secret::Secret;
use deskhand_store::KeyFile;

use crate::{
    cli::{SecretArgs, SecretCommand},
    config::{Config, Environment},
    find::running_server,
    output,
};

/// The most bytes read from standard input. It is more than the longest secret takes.
const LONGEST_INPUT_BYTES: u64 = 64 * 1024;

/// Runs `deskhand secret`.
pub(crate) async fn secret(
    args: &SecretArgs,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<()> {
    // The key file is this machine's, so this needs no server.
    if let SecretCommand::RotateKey = &args.command {
        return rotate_key(config).await;
    }
    let client = running_server(&args.server, config, environment).await?;
    match &args.command {
        SecretCommand::Set {
            name,
            origins,
            headers,
            env,
        } => {
            let http = env.as_ref().map(|env| HttpUseBody {
                headers: headers.clone(),
                env: env.clone(),
            });
            let secret = PutSecretBody {
                value: read_value(name)?,
                origins: origins.clone(),
                http,
            };
            client.put_secret(name, &secret).await?;
            output::say(&stored(name, &secret));
            Ok(())
        }
        SecretCommand::List => {
            for secret in client.secrets().await? {
                output::answer(&listed(&secret))?;
            }
            Ok(())
        }
        SecretCommand::Remove { name } => {
            client.remove_secret(name).await?;
            output::say(&format!("{name} is removed."));
            Ok(())
        }
        SecretCommand::RotateKey => Ok(()),
    }
}

/// Returns the confirmation that a secret was stored.
fn stored(name: &str, secret: &PutSecretBody) -> String {
    let origins = secret.origins.join(", ");
    match &secret.http {
        None => format!("{name} is stored. Agents in your sessions can type it at {origins}."),
        Some(http) => format!(
            "{name} is stored. Programs on desktops that are started from now on find a stand-in in ${} and can send it \
             to {origins} in {}.",
            http.env,
            http.headers.join(", ")
        ),
    }
}

/// Returns the line about a secret.
fn listed(secret: &SecretView) -> String {
    let used = secret.last_used_at.map_or("never used".to_owned(), |at| {
        let session = secret
            .last_used_in
            .map_or(String::new(), |session| format!(" in session {session}"));
        format!("used {}{session}", at.strftime("%F %R"))
    });
    let origins: Vec<_> = secret.origins.iter().map(ToString::to_string).collect();
    let http = secret.http.as_ref().map_or(String::new(), |http| {
        let headers: Vec<_> = http.headers.iter().map(ToString::to_string).collect();
        format!("\t${} in {}", http.env, headers.join(" "))
    });
    format!("{}\t{}\t{used}{http}", secret.name, origins.join(" "))
}

/// Adds a key to the key file. The running server needs no telling, since it reads the file whenever it needs a key.
async fn rotate_key(config: &Config) -> anyhow::Result<()> {
    let keys = KeyFile::at(&config.key_file).rotate().await?;
    let path = config.key_file.display();
    output::say(&format!(
        "{path} has a new key {} in its last line. A running server seals all secrets with it within a minute, and \
         one that is stopped does so at its next start. Back the file up, and keep the {} older keys in it until then.",
        keys.newest().id(),
        keys.n_older()
    ));
    Ok(())
}

/// Reads the value: from the terminal without echo, or all of standard input without its last line end.
fn read_value(name: &str) -> io::Result<Secret> {
    if io::stdin().is_terminal() {
        let terminal = Term::stderr();
        terminal.write_str(&format!("Value of {name} (not shown as you type): "))?;
        return Ok(Secret::new(terminal.read_secure_line()?));
    }
    let mut text = String::new();
    io::stdin()
        .lock()
        .take(LONGEST_INPUT_BYTES)
        .read_to_string(&mut text)?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(Secret::new(text.strip_suffix('\r').unwrap_or(text)))
}
