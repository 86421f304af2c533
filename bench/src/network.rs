//! The network of a sandbox, beside slirp4netns and pasta: the same program in each talks to the same servers.
//!
//! The servers are in a network namespace of their own, under an address of the public internet and a name. A real
//! Deskhand server resolves, judges, dials, compares and counts, with everything as usual; nothing is replaced. The
//! peers run beside it and do no more than carry.

mod memory;
mod peers;
mod servers;

use std::{collections::HashMap, sync::mpsc, time::Duration};

use deskhand_core::tasks::Tasks;
use deskhand_testkit::{FAR_ADDRESS, OwnNetwork, Server, ServerOptions, Session};
use serde_json::json;

use self::{memory::Memory, peers::Peers, servers::Servers};
use crate::table::{Row, Table, median};

/// The program that measures, in every network.
const CLIENT: &str = include_str!("network/client.py");
/// The name of the servers.
const HOST: &str = "bench.example";
/// The rounds of which the median counts, taken in turn with the peers.
const N_ROUNDS: usize = 3;
/// The time that our network may add to the first byte.
const MOST_OVERHEAD_MS: f64 = 2.0;
/// The time for which a person has control, so that programs may use the network.
const CONTROL_SECONDS: u32 = 600;

/// The results of the program, by name, one for each round.
type Results = HashMap<String, Vec<f64>>;

/// The results of all networks.
#[derive(Default)]
struct Measured {
    direct: Results,
    ours: Results,
    slirp: Results,
    pasta: Results,
}

/// Measures and prints two tables.
pub(crate) fn measure(program: &str) {
    println!("network: a sandbox's programs, and servers behind a cable of this machine");
    let program = program.to_owned();
    // A namespace is a matter of threads: those that this one starts are in the same.
    let measuring = std::thread::spawn(move || {
        let network = match OwnNetwork::make(&[]) {
            Ok(network) => network,
            Err(reason) => {
                println!("not measured: {reason}");
                return;
            }
        };
        network.names().set(HOST, &[FAR_ADDRESS]);
        let (end, servers) = start_servers(&network);
        network.enter();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(measure_within(&program, &network, servers));
        drop(end);
    });
    measuring.join().unwrap();
}

/// Starts the servers on the far side. They end when the sender is dropped.
fn start_servers(network: &OwnNetwork) -> (mpsc::Sender<()>, Servers) {
    let (end, ended) = mpsc::channel();
    let (tell, told) = mpsc::channel();
    network.on_far_thread(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let tasks = Tasks::default();
        tell.send(runtime.block_on(Servers::start(&tasks))).unwrap();
        // It ends without a message.
        let _: Result<(), _> = ended.recv();
        runtime.block_on(tasks.end(Duration::from_secs(5)));
    });
    (end, told.recv().unwrap())
}

async fn measure_within(program: &str, network: &OwnNetwork, servers: Servers) {
    let server = Server::start(
        program,
        ServerOptions {
            covers: network.covers(),
            ..ServerOptions::default()
        },
    );
    let session = online(&server).await;
    let folder = tempfile::tempdir().unwrap();
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), readable).unwrap();
    let script = folder.path().join("client.py");
    std::fs::write(&script, CLIENT).unwrap();
    let peers = Peers {
        network,
        script: &script,
        arguments: servers.arguments(HOST),
    };
    let memory = memory_of_ours(&server, &session, &peers.arguments).await;
    let slirp_memory = peers.slirp4netns_memory_mb();

    let mut measured = Measured::default();
    for _ in 0..N_ROUNDS {
        keep(&mut measured.direct, Some(peers.direct()));
        session.take_control(CONTROL_SECONDS).await.good();
        keep(
            &mut measured.ours,
            Some(in_sandbox(&session, &peers.arguments).await),
        );
        keep(&mut measured.slirp, peers.slirp4netns());
        keep(&mut measured.pasta, peers.pasta());
    }
    for (peer, theirs, times) in [
        ("slirp4netns", &measured.slirp, Some(1.0)),
        ("pasta", &measured.pasta, None),
    ] {
        if theirs.is_empty() {
            println!("{peer} could not be measured here");
        } else {
            println!("{}", beside(peer, &measured, theirs, times));
        }
    }
    memory.show(slirp_memory);
    println!("Each number is the median of {N_ROUNDS} rounds. All connections are made by name.");
}

/// Starts a session with an open network. A person has control, so that its programs may use it.
async fn online(server: &Server) -> Session {
    let body = json!({"model": "scripted/demo", "network": {"mode": "open"}});
    let made = server.client().post("/api/sessions", body).await.good();
    let session = server.client().session(made["id"].as_str().unwrap());
    session.take_control(CONTROL_SECONDS).await.good();
    session
        .shell(&format!("cat > /tmp/client.py <<'END'\n{CLIENT}\nEND"))
        .await;
    session
}

async fn in_sandbox(session: &Session, arguments: &str) -> HashMap<String, f64> {
    let command = format!("/usr/bin/python3 -I /tmp/client.py {arguments}");
    parse(&session.shell(&command).await)
}

/// Measures memory while nothing is open, and while 200 connections are.
async fn memory_of_ours(server: &Server, session: &Session, arguments: &str) -> Memory {
    let mut memory = Memory::of(server);
    let hold = format!(
        "(sleep 600 | /usr/bin/python3 -I /tmp/client.py {arguments} hold) >/tmp/held 2>&1 & \
         until grep -q holding /tmp/held; do sleep 0.1; done"
    );
    session.shell(&hold).await;
    memory.look_again();
    session.shell("kill %1; wait").await;
    memory
}

/// Reads the program's output: a line of JSON.
fn parse(output: &str) -> HashMap<String, f64> {
    let line = output.trim().lines().last().unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {output}"))
}

fn keep(results: &mut Results, round: Option<HashMap<String, f64>>) {
    for (name, value) in round.into_iter().flatten() {
        results.entry(name).or_default().push(value);
    }
}

/// Compares our results with a peer's. With `times`, ours should be so many times as good.
fn beside(peer: &'static str, measured: &Measured, theirs: &Results, times: Option<f64>) -> Table {
    let ours = &measured.ours;
    let mut table = Table::next_to(peer);
    let of = |results: &Results, name: &str| {
        let values = results.get(name).cloned();
        values.map_or(f64::NAN, median)
    };
    let mut add = |row: Row| {
        table.add(if times.is_some() {
            row
        } else {
            row.without_target()
        });
    };
    for (what, name) in [
        ("download, MB", "download"),
        ("upload, MB", "upload"),
        ("connections", "connections"),
        ("connections, 16 threads", "connections_16"),
        ("requests on one connection", "requests"),
    ] {
        let (ours, theirs) = (of(ours, name), of(theirs, name));
        add(Row::per_second(
            what,
            ours,
            theirs,
            times.unwrap_or_default(),
        ));
    }
    let name = "parallel_ms";
    let (parallel, theirs_parallel) = (of(ours, name), of(theirs, name));
    add(Row::times(
        "200 connections at once",
        parallel,
        theirs_parallel,
        times.unwrap_or_default(),
    ));
    let added =
        |results: &Results| of(results, "first_byte_ms") - of(&measured.direct, "first_byte_ms");
    table.add(Row::ms(
        "added to the first byte",
        added(ours),
        Some(added(theirs)),
        MOST_OVERHEAD_MS,
    ));
    table
}
