//! `deskhand doctor`: checks everything that Deskhand needs, and says how to install missing parts.

use std::{io, net::TcpListener, path::Path, process::ExitCode};

use console::Style;
use deskhand_core::{
    sandbox::{CheckState, DoctorCheck},
    tasks::Tasks,
};
use deskhand_streams::LastMile;
use rustix::process::geteuid;
use serde_json::json;

use crate::{
    cli::DoctorArgs,
    config::{Config, Environment, NetworkConfig},
    data_dir::DataDir,
    find::find_server,
    output::{self, Painted},
    server::{apps_domain, has_code, sandboxes},
};

/// Checks the machine part by part. Exits with a failure if a necessary part is missing.
pub(crate) async fn doctor(
    args: &DoctorArgs,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<ExitCode> {
    let sandboxes = sandboxes(config, (None, None), Tasks::default())?;
    let mut checks = sandboxes.doctor().await;
    checks.push(user());
    checks.push(data_dir(&config.data_dir));
    checks.push(port(config, environment).await);
    checks.push(page());
    checks.extend(proxy(&config.network));
    checks.push(services(config));
    checks.push(code(config));
    checks.push(discord(config));
    let is_well = checks
        .iter()
        .all(|check| check.state != CheckState::Missing);
    if args.json {
        output::answer(&as_json(&checks, is_well))?;
    } else {
        output::answer_painted(&as_list(&checks, is_well))?;
    }
    Ok(if is_well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Warns if the server would run as root.
fn user() -> DoctorCheck {
    const NAME: &str = "user";
    if geteuid().is_root() {
        DoctorCheck::warning(
            NAME,
            "root: a server that root starts stays root, and whoever takes it over has the machine",
            "run the server as a service user (docs/operate/sandboxes.md, deploy/deskhand.service)",
        )
    } else {
        DoctorCheck::ok(NAME, "not root")
    }
}

/// Checks that files can be written to the data folder.
fn data_dir(path: &Path) -> DoctorCheck {
    let try_it = || -> io::Result<()> {
        let draft = path.join(format!("doctor-{}", std::process::id()));
        std::fs::write(&draft, "x")?;
        std::fs::remove_file(draft)
    };
    let problem = match DataDir::at(path).create() {
        Ok(()) => try_it().err().map(|error| error.to_string()),
        Err(error) => Some(format!("{:#}", anyhow::Error::new(error))),
    };
    match problem {
        None => DoctorCheck::ok("data folder", path.display().to_string()),
        Some(problem) => DoctorCheck::missing(
            "data folder",
            format!("{} cannot be written: {problem}", path.display()),
            "choose another folder with --data-dir, or make this one writable",
        ),
    }
}

/// Checks that the port is free, or that our own server uses it.
async fn port(config: &Config, environment: &Environment) -> DoctorCheck {
    let listen = config.listen;
    match TcpListener::bind(listen) {
        Ok(_) => return DoctorCheck::ok("port", format!("{listen} is free")),
        Err(error) if error.kind() != io::ErrorKind::AddrInUse => {
            let problem = format!("cannot listen on {listen}: {error}");
            return DoctorCheck::missing("port", problem, "choose another address with --listen");
        }
        Err(_) => {}
    }
    let dir = DataDir::at(&config.data_dir);
    let ours = find_server(None, environment, &dir).await;
    match ours {
        Ok(Some(server)) if server.port() == Some(listen.port()) => DoctorCheck::ok(
            "port",
            format!("the server is running at {}", server.address()),
        ),
        Ok(_) | Err(_) => DoctorCheck::missing(
            "port",
            format!("{listen} is in use by another program"),
            "stop that program, or choose another port with --listen",
        ),
    }
}

/// Reports the proxy for the network of sandboxes, if there is one.
fn proxy(network: &NetworkConfig) -> Option<DoctorCheck> {
    const NAME: &str = "proxy";
    if let Some(variable) = network.unusable_proxy {
        return Some(DoctorCheck::warning(
            NAME,
            format!(
                "{variable} is not the address of an HTTP proxy, so sandboxes reach the internet directly"
            ),
            "set network.proxy to http://HOST:PORT, or to \"direct\"",
        ));
    }
    let proxy = network.proxy.as_ref()?;
    let text = format!("sandboxes reach the internet through {proxy}");
    Some(DoctorCheck::ok(NAME, text))
}

/// Checks that this program was built with the page.
fn page() -> DoctorCheck {
    if deskhand_server::has_page() {
        DoctorCheck::ok("web page", "built in")
    } else {
        DoctorCheck::warning(
            "web page",
            "this program was built without it",
            "make build",
        )
    }
}

/// Checks that services of sandboxes can be opened in a browser.
fn services(config: &Config) -> DoctorCheck {
    const NAME: &str = "previews";
    match apps_domain(config) {
        Some(domain) => DoctorCheck::ok(NAME, format!("at names under {domain}")),
        None => DoctorCheck::warning(
            NAME,
            "off: programs of sandboxes and VS Code need a domain of their own",
            "set apps.domain (docs/operate/apps.md)",
        ),
    }
}

/// Checks that sandboxes have VS Code, which is optional.
fn code(config: &Config) -> DoctorCheck {
    const NAME: &str = "VS Code";
    let folder = config.apps.code_server.display();
    if has_code(config) {
        DoctorCheck::ok(NAME, folder.to_string())
    } else {
        let detail = format!("not in {folder}; everything else works without it");
        DoctorCheck::warning(NAME, detail, "scripts/setup code")
    }
}

/// Reports whether the Discord bot is set up, which is optional.
fn discord(config: &Config) -> DoctorCheck {
    const NAME: &str = "Discord bot";
    let jamie = &config.jamie;
    if !jamie.runs_streams() {
        return DoctorCheck::ok(NAME, "off; docs/guide/jamie.md sets it up");
    }
    if let LastMile::Share(share) = &jamie.streams.last_mile {
        return DoctorCheck::warning(
            NAME,
            format!(
                "shares pages with the account of a person at {}; Discord forbids automated user accounts and may end \
                 them",
                share.client_url
            ),
            "set jamie.last_mile to \"watch\", which Discord allows",
        );
    }
    let public_url = jamie.public_url.as_ref().or(config.public_url.as_ref());
    if public_url.is_none_or(|url| !url.starts_with("https://")) {
        return DoctorCheck::warning(
            NAME,
            "on, but people elsewhere cannot open links to watch",
            "set jamie.public_url or public_url to the https:// address of this server",
        );
    }
    let where_it_runs = match jamie.token {
        Some(_) => "runs in the server",
        None => "runs apart; this server has its streams",
    };
    DoctorCheck::ok(NAME, where_it_runs)
}

fn as_json(checks: &[DoctorCheck], is_well: bool) -> String {
    let checks: Vec<_> = checks
        .iter()
        .map(|check| {
            let state = match check.state {
                CheckState::Ok => "ok",
                CheckState::Warning => "warning",
                CheckState::Missing => "missing",
            };
            json!({
                "name": check.name,
                "state": state,
                "detail": check.detail,
                "remedy": check.remedy,
            })
        })
        .collect();
    let report = json!({"ok": is_well, "checks": checks});
    format!("{report:#}")
}

fn as_list(checks: &[DoctorCheck], is_well: bool) -> Painted {
    let width = checks.iter().map(|check| check.name.chars().count()).max();
    let width = width.unwrap_or(0);
    let mut lines = Vec::new();
    for check in checks {
        let mark = match check.state {
            CheckState::Ok => Painted::styled("✓", &Style::new().green()),
            CheckState::Warning => Painted::styled("!", &Style::new().yellow()),
            CheckState::Missing => Painted::styled("✗", &Style::new().red()),
        };
        lines.push(mark);
        let detail = format!(" {:width$}  {}\n", check.name, check.detail);
        lines.push(Painted::plain(&detail));
        if let Some(remedy) = &check.remedy {
            lines.push(Painted::plain(&format!("  {:width$}  → {remedy}\n", "")));
        }
    }
    let verdict = if is_well {
        "Deskhand can run on this machine."
    } else {
        "Deskhand cannot run on this machine yet: see ✗ above."
    };
    lines.push(Painted::plain(&format!("\n{verdict}")));
    Painted::joined(lines)
}
