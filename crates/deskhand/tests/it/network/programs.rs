//! Programs that people use. They contact hosts by name, and have no variable or setting for the network.

use super::{
    attempt::{Attempt, Recorded},
    hosts::Hosts,
};

/// The size of the large download.
const LARGE_BYTES: u64 = 1_000_000_000;

/// A program that is soon done.
struct Program {
    what: &'static str,
    /// The host that it contacts.
    host: &'static str,
    port: u16,
    command: &'static str,
    /// A part of its output.
    shows: &'static str,
}

#[rustfmt::skip]
const SHORT_ONES: &[Program] = &[
    Program {
        what: "curl over HTTP/1.1", host: "web.example", port: 443,
        command: "curl -sS --http1.1 https://web.example/hello",
        shows: "hello by HTTP/1.1 from web.example",
    },
    Program {
        what: "curl over HTTP/2", host: "web.example", port: 443,
        command: "curl -sS --http2 https://web.example/hello",
        shows: "hello by HTTP/2.0 from web.example",
    },
    Program {
        what: "curl in cleartext", host: "web.example", port: 80,
        command: "curl -sS http://WEB.example./hello",
        shows: "hello by HTTP/1.1 from WEB.example.",
    },
    Program {
        what: "a host that has only IPv6", host: "six.example", port: 443,
        command: "curl -sS https://six.example/hello",
        shows: "hello by HTTP/2.0 from six.example",
    },
    Program {
        what: "git clone", host: "git.example", port: 443,
        command: "git clone -q https://git.example/repository.git ~/cloned && cat ~/cloned/file",
        shows: "in the repository",
    },
    Program {
        what: "git push", host: "git.example", port: 443,
        command: "cd ~/cloned && echo more >> file && git -c user.name=A -c user.email=a@example.com commit -qam More && \
                  git push -q origin main && git ls-remote -q origin main | grep -c $(git rev-parse HEAD)",
        shows: "1",
    },
    // The wheel is pip itself. Debian has it for the environments that Python makes.
    Program {
        what: "pip install", host: "pypi.example", port: 443,
        command: "/usr/bin/python3 $(echo /usr/share/python-wheels/pip-*.whl)/pip install -q --target ~/installed \
                  --disable-pip-version-check --index-url https://pypi.example/simple tiny && \
                  cd ~/installed && /usr/bin/python3 -c 'import tiny; print(tiny.WORD)'",
        shows: "from the wheel",
    },
    // Node has certificate authorities of its own. npm is told to use those of the computer.
    Program {
        what: "npm install", host: "npm.example", port: 443,
        command: "mkdir ~/project && cd ~/project && npm install --silent --no-audit --no-fund \
                  --cafile /etc/ssl/certs/ca-certificates.crt --registry https://npm.example/ small && \
                  node -p 'require(\"small\")'",
        shows: "from the tarball",
    },
    Program {
        what: "psql", host: "db.example", port: 5432,
        command: "psql -h db.example -U deskhand -d postgres -Atc 'select 6 * 7'",
        shows: "42",
    },
    Program {
        what: "ssh", host: "shell.example", port: 22,
        command: "curl -sS -o ~/key https://web.example/account-key && chmod 600 ~/key && \
                  ssh -q -o StrictHostKeyChecking=accept-new -i ~/key root@shell.example 'echo on the host; cat ~/.ssh/mark'",
        shows: "on the host\nmarked",
    },
];

pub(super) fn short_ones() -> Vec<Attempt> {
    let attempt = |program: &Program| {
        let recorded = Recorded::Reached(program.host, program.port);
        Attempt::new(program.what, program.command, program.shows, recorded)
    };
    SHORT_ONES.iter().map(attempt).collect()
}

/// Browsers, and a large download.
pub(super) fn long_ones(hosts: &Hosts) -> Vec<Attempt> {
    let key_hash = hosts.key_hash();
    let chromium = format!(
        "/usr/lib/chromium/chromium --headless=new --disable-gpu --user-data-dir=/tmp/profile \
         --ignore-certificate-errors-spki-list={key_hash} --dump-dom \
         'https://chromium.example/page?key=chromium' 2>/dev/null"
    );
    let firefox = "firefox-esr --headless --no-remote --profile $(mktemp -d) --screenshot $HOME/page.png \
                   'https://firefox.example/page?key=firefox' >/dev/null 2>&1; head -c 4 ~/page.png | tail -c 3";
    let large = format!(
        "curl -sS -o /dev/null -w '%{{size_download}}' https://large.example/zeros/{LARGE_BYTES}"
    );
    vec![
        Attempt::new(
            "a page in Chromium, with a WebSocket",
            &chromium,
            "scripted styled echoed",
            Recorded::Reached("chromium.example", 443),
        ),
        Attempt::new(
            "a page in Firefox, with a WebSocket",
            firefox,
            "PNG",
            Recorded::Reached("firefox.example", 443),
        ),
        Attempt::new(
            "a large download",
            &large,
            &LARGE_BYTES.to_string(),
            Recorded::Received("large.example", 443, LARGE_BYTES),
        ),
    ]
}
