//! Watching a video on the desktop: pictures, sound beside them, and the processor time for several viewers.

use std::{
    path::Path,
    process::Command,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use deskhand_core::id::RequestId;
use deskhand_testkit::{Client, Server, ServerOptions, Session, VideoClient, processes_with_mount};
use serde_json::{Value, json};
use tokio::{sync::mpsc, task::JoinSet};

use crate::{
    process::cpu_ticks,
    site::Site,
    table::{Row, Table, median},
};

const VIEWERS: [usize; 3] = [1, 5, 20];
const SECONDS: f64 = 8.0;
/// The pictures in a second that the film has, and those that a viewer should get.
const FILM_RATE: &str = "30";
const LEAST_RATE: f64 = 25.0;
/// The most milliseconds between a picture and its sound.
const MOST_OFFSET_MS: f64 = 80.0;
const FILM_SECONDS: &str = "20";
const VNC: &str = include_str!("video/vnc.py");
const VNC_PORT: u16 = 6080;
const PAGE: &str = "<!doctype html><title>A film</title><body style='margin:0;background:#000'>\
    <video src=/video.webm style='width:100vw;height:100vh' muted loop preload=auto></video>";

/// The command line of the server.
const SERVER: &str = "deskhand serve";
/// The machine that neko, which streams a browser, too, asks for at this size: from enough to recommended, as its guide
/// "Quick start" has it.
const NEKO: &str = "4 to 6 processors and 3 to 4 GB";

/// The measurements for a number of viewers.
struct Watched {
    /// The pictures in a second of the slowest viewer.
    pictures: f64,
    /// The processor time of the programs that encode and send, in hundredths of a second for each second.
    cpu: f64,
    /// The same of the whole sandbox and the server.
    whole: f64,
}

pub(crate) async fn measure(program: &str) {
    println!(
        "Measuring a film of 1280×720 at {FILM_RATE} pictures a second, for {VIEWERS:?} viewers …"
    );
    let folder = tempfile::tempdir().unwrap();
    let site = Site::start(PAGE, make_film(&folder.path().join("film.webm")));
    let server = start(program);
    let client = server.client();
    let watch_url = play(&client, &site.url()).await;
    let sessions = client.get("/api/sessions").await.good();
    let session = client.session(sessions["sessions"][0]["id"].as_str().unwrap());

    let mut ours = Vec::new();
    for n_viewers in VIEWERS {
        ours.push(watch(&server, &session, n_viewers).await);
    }
    let gb = sandbox_gb(&server);
    let offsets = offsets(&watch_url);
    assert!(!offsets.is_empty(), "no flash was seen with its beep");
    let peer = watch_by_vnc(&session).await;

    let mut table = Table::next_to("x11vnc");
    for (n_viewers, (ours, peer)) in VIEWERS.into_iter().zip(ours.iter().zip(&peer)) {
        let [pictures, cpu, each] = match n_viewers {
            1 => [
                "pictures, 1 viewer",
                "processor, 1 viewer",
                "a picture, 1 viewer",
            ],
            5 => [
                "pictures, 5 viewers",
                "processor, 5 viewers",
                "a picture, 5 viewers",
            ],
            _ => [
                "pictures, 20 viewers",
                "processor, 20 viewers",
                "a picture, 20 viewers",
            ],
        };
        table.add(Row::at_least(
            pictures,
            ours.pictures,
            peer.pictures,
            LEAST_RATE,
        ));
        let row = Row::at_most(cpu, "%", ours.cpu, Some(peer.cpu), 0.0);
        table.add(row.without_target());
        let [ours, peer] = [ours, peer].map(|it| it.cpu * 10.0 / it.pictures.max(0.1));
        table.add(Row::times(each, ours, peer, 1.0));
    }
    table.add(Row::ms(
        "sound beside its picture",
        median(offsets.clone()).abs(),
        None,
        MOST_OFFSET_MS,
    ));
    println!("{table}");
    println!(
        "The processor time is that of the programs that encode and send: runner and server, or x11vnc and"
    );
    println!(
        "websockify, for the rate of the slowest viewer. The browser and the X server are the same for both."
    );
    println!("Beeps are heard so many ms after their flash: {offsets:.0?}");
    let whole: Vec<_> = ours
        .iter()
        .map(|it| format!("{:.1}", it.whole / 100.0))
        .collect();
    println!(
        "With its browser and X server, the stream takes {} processors for {VIEWERS:?} viewers, and {gb:.1} GB.",
        whole.join(", ")
    );
    println!("neko asks for {NEKO}.");
}

fn start(program: &str) -> Server {
    let variables = [
        ("DESKHAND_JAMIE_CONTROLLER", "true"),
        ("DESKHAND_NETWORK_ALLOW", "127.0.0.0/8"),
        ("DESKHAND_SCREEN_WIDTH", "1280"),
        ("DESKHAND_SCREEN_HEIGHT", "720"),
    ];
    let options = ServerOptions {
        variables: variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        hosts: Site::hosts(),
        ..ServerOptions::default()
    };
    Server::start(program, options)
}

/// Makes a film with a pattern that moves. Once a second, a corner turns white and a tone is heard.
#[expect(clippy::disallowed_methods, reason = "ffmpeg makes the film")]
fn make_film(path: &Path) -> Vec<u8> {
    let picture = format!("testsrc2=size=1280x720:rate={FILM_RATE}:duration={FILM_SECONDS}");
    let sound =
        format!("aevalsrc='if(lt(mod(t,1),0.3),0.5*sin(2*PI*440*t),0)':s=48000:d={FILM_SECONDS}");
    let corner = "drawbox=w=160:h=160:color=black:t=fill,\
        drawbox=w=160:h=160:color=white:t=fill:enable='lt(mod(t,1),0.3)'";
    let made = Command::new("ffmpeg")
        .args(["-loglevel", "error", "-f", "lavfi", "-i", &picture])
        .args(["-f", "lavfi", "-i", &sound, "-vf", corner])
        .args(["-c:v", "libvpx", "-b:v", "4M", "-deadline", "realtime"])
        .args(["-cpu-used", "8", "-c:a", "libopus"])
        .arg(path)
        .status();
    assert!(made.expect("scripts/setup bench installs ffmpeg").success());
    std::fs::read(path).unwrap()
}

/// Plays the film as a stream, and returns the link to watch.
async fn play(client: &Client, url: &str) -> String {
    let id = RequestId::new().to_string();
    let request = json!({
        "session_id": id, "url": url, "guild_id": 1, "channel_id": 2, "channel_name": "Movie Night",
    });
    client.post("/jamie/stream", request).await.good();
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let stream: Value = client.get(&format!("/jamie/session/{id}")).await.good();
        if stream["status"] == "streaming" {
            return stream["watch_url"].as_str().unwrap().to_owned();
        }
        assert!(Instant::now() < deadline, "it does not play: {stream}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Lets clients watch for a while, all of them at the same time.
async fn watch(server: &Server, session: &Session, n_viewers: usize) -> Watched {
    let window = Arc::new(OnceLock::new());
    let (ready, mut ready_viewers) = mpsc::channel(n_viewers);
    let mut viewers = JoinSet::new();
    for _ in 0..n_viewers {
        let viewer = VideoClient::open(session).await;
        viewers.spawn(pictures(viewer, ready.clone(), Arc::clone(&window)));
    }
    for _ in 0..n_viewers {
        ready_viewers.recv().await.unwrap();
    }
    // The first second has a key frame for each who came.
    let from = Instant::now() + Duration::from_secs(1);
    let until = from + Duration::from_secs_f64(SECONDS);
    window.set((from, until)).unwrap();
    tokio::time::sleep_until(from.into()).await;
    let (clock, before) = (Instant::now(), ticks(server));
    tokio::time::sleep_until(until.into()).await;
    let (seconds, after) = (clock.elapsed().as_secs_f64(), ticks(server));
    let mut pictures = f64::INFINITY;
    while let Some(rate) = viewers.join_next().await {
        pictures = pictures.min(rate.unwrap());
    }
    #[expect(clippy::cast_precision_loss, reason = "it is a small number")]
    let percent = |after: u64, before: u64| after.saturating_sub(before) as f64 / seconds;
    Watched {
        pictures,
        cpu: percent(after.own, before.own),
        whole: percent(after.whole, before.whole),
    }
}

/// Returns the pictures in a second that a viewer gets in a window of time, which is set when all have begun.
async fn pictures(
    mut viewer: VideoClient,
    ready: mpsc::Sender<()>,
    window: Arc<OnceLock<(Instant, Instant)>>,
) -> f64 {
    viewer.next().await;
    ready.send(()).await.unwrap();
    let mut n_pictures = 0_u32;
    loop {
        viewer.next().await;
        let now = Instant::now();
        match window.get() {
            Some((_, until)) if now >= *until => return f64::from(n_pictures) / SECONDS,
            Some((from, _)) => n_pictures += u32::from(now > *from),
            None => {}
        }
    }
}

/// The processor time so far, in hundredths of a second.
#[derive(Clone, Copy)]
struct Ticks {
    /// That of the server and the runner.
    own: u64,
    /// That of the whole sandbox, too.
    whole: u64,
}

fn ticks(server: &Server) -> Ticks {
    let mark = server.mark();
    let all = std::fs::read_dir("/proc").unwrap();
    let pids = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let of_server: u64 = pids
        .filter(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            line.contains(SERVER) && line.contains(&mark) && !line.starts_with("bwrap")
        })
        .map(cpu_ticks)
        .sum();
    let (mut of_runner, mut of_others) = (0, 0);
    // The server has a mount, too, for the names of the site.
    let inside = processes_with_mount(&mark).into_iter();
    for (pid, line) in inside.filter(|(_, line)| !line.contains(SERVER)) {
        match line.contains("deskhand runner") {
            true => of_runner += cpu_ticks(pid),
            false => of_others += cpu_ticks(pid),
        }
    }
    let own = of_server + of_runner;
    Ticks {
        own,
        whole: own + of_others,
    }
}

/// Returns the memory of the whole sandbox, in GB. Pages that processes share count once.
fn sandbox_gb(server: &Server) -> f64 {
    let inside = processes_with_mount(&server.mark()).into_iter();
    let inside = inside.filter(|(_, line)| !line.contains(SERVER));
    let kb = inside.map(|(pid, _)| {
        let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup"));
        let rollup = rollup.unwrap_or_default();
        let line = rollup.lines().find(|line| line.starts_with("Pss:"));
        let kb = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
        kb.unwrap_or_default()
    });
    kb.sum::<f64>() * 1.024 / 1e6
}

/// Returns the same for viewers of x11vnc and websockify on the same desktop.
async fn watch_by_vnc(session: &Session) -> Vec<Watched> {
    let counts = VIEWERS.map(|n| n.to_string()).join(" ");
    // In the background, since the stream's own looks at the desktop wait for actions.
    let command = format!(
        "cat > vnc.py <<'END'\n{VNC}\nEND\n\
         (python3 vnc.py {VNC_PORT} {SECONDS} {counts} > vnc.txt 2>&1; echo over >> vnc.txt) > /dev/null 2>&1 &"
    );
    session.shell(&command).await;
    let mut printed = String::new();
    while !printed.contains("over") {
        tokio::time::sleep(Duration::from_secs(1)).await;
        printed = session.shell("cat vnc.txt").await;
    }
    let lines = printed
        .lines()
        .filter_map(|line| line.strip_prefix("measured "));
    let watched: Vec<_> = lines
        .map(|line| {
            let mut numbers = line.split(' ').map(|number| number.parse().unwrap());
            Watched {
                pictures: numbers.next().unwrap(),
                cpu: numbers.next().unwrap(),
                whole: f64::NAN,
            }
        })
        .collect();
    assert_eq!(watched.len(), VIEWERS.len(), "{printed}");
    watched
}

/// Watches in a browser, and returns the milliseconds from each flash to its beep.
#[expect(clippy::disallowed_methods, reason = "a browser measures")]
fn offsets(watch_url: &str) -> Vec<f64> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../e2e/offsets.js");
    let measured = Command::new("node").arg(script).arg(watch_url).output();
    let measured = measured.unwrap();
    assert!(
        measured.status.success(),
        "{}",
        String::from_utf8_lossy(&measured.stderr)
    );
    serde_json::from_slice(&measured.stdout).unwrap()
}
