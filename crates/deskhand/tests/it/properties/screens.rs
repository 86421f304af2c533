use deskhand_testkit::{
    Client, Server, ServerOptions, Session, Watcher, eventually, processes_with_mount,
};
use futures::future::join_all;
use proptest::{collection::vec, prelude::*};

use super::for_all;
use crate::world::serve_with;

const N_SESSIONS: usize = 3;
/// A place inside the window.
const POINT: (usize, usize) = (200, 250);

/// What the browser shows there at first.
const START_PAGE: [u8; 3] = [247, 244, 238];

/// A window whose colour can be set by what is written to its terminal.
const WINDOW: &str = "rm -f ~/tty; xterm -geometry 60x20+100+150 -e sh -c 'tty > ~/tty; exec sleep infinity' >/dev/null 2>&1 & \
    until [ -s ~/tty ]; do sleep 0.05; done";

#[derive(Debug, Clone)]
struct Case {
    /// Which session each watcher looks at.
    watchers: Vec<usize>,
    /// Which session is painted in which colour, one after the other.
    paintings: Vec<(usize, [u8; 3])>,
    /// How many of the watchers leave half way.
    n_leaving: usize,
    /// A session that is ended and made anew.
    ended: Option<usize>,
}

fn case() -> impl Strategy<Value = Case> {
    let watchers = vec(0..N_SESSIONS, 1..7);
    let paintings = vec((0..N_SESSIONS, any::<[u8; 3]>()), 1..4);
    let ended = prop_oneof![19 => Just(None), 1 => (0..N_SESSIONS).prop_map(Some)];
    (watchers, paintings, 0..3_usize, ended).prop_map(|(watchers, paintings, n_leaving, ended)| {
        Case {
            watchers,
            paintings,
            n_leaving,
            ended,
        }
    })
}

struct World {
    client: Client,
    sessions: Vec<Session>,
    // Kept for its end.
    _server: Server,
}

async fn open(options: ServerOptions) -> World {
    let server = serve_with(options);
    let client = server.client();
    World {
        sessions: join_all((0..N_SESSIONS).map(|_| with_window(&client))).await,
        client,
        _server: server,
    }
}

async fn with_window(client: &Client) -> Session {
    let session = client.new_session("scripted/demo").await;
    session.shell("true").await;
    // The browser comes up by itself, and later would be over the window.
    let mut watcher = Watcher::open(&session).await;
    watcher.until(POINT, START_PAGE).await;
    session.shell(WINDOW).await;
    session
}

async fn paint(session: &Session, [red, green, blue]: [u8; 3]) {
    let command = format!(r"printf '\e]11;#{red:02x}{green:02x}{blue:02x}\a' > $(cat ~/tty)");
    assert_eq!(session.shell(&command).await, "[no output]");
}

/// **Feature: computer-use-backend, Property 6: VNC functionality**
///
/// Any number of watchers of any sessions see the screen of theirs, and only that, as it changes,
/// whoever else leaves. When a session is ended, its watchers are told and its screen is gone.
#[test]
fn every_watcher_sees_the_screen_of_their_session() {
    for_all(&case(), &open, &async |world: &mut World, case| {
        let looking = case
            .watchers
            .iter()
            .map(|n| Watcher::open(&world.sessions[*n]));
        let watchers = join_all(looking).await;
        let mut watchers: Vec<_> = case.watchers.iter().copied().zip(watchers).collect();
        for (n, watcher) in &watchers {
            assert_eq!(watcher.size(), (1024, 768), "session {n}");
        }
        let mut colours: [[u8; 3]; N_SESSIONS] = [[1, 2, 3], [4, 5, 6], [7, 8, 9]];
        for (session, colour) in world.sessions.iter().zip(colours) {
            paint(session, colour).await;
        }
        for (at, (n, colour)) in case.paintings.iter().enumerate() {
            paint(&world.sessions[*n], *colour).await;
            colours[*n] = *colour;
            let see = watchers
                .iter_mut()
                .map(|(n, watcher)| watcher.until(POINT, colours[*n]));
            join_all(see).await;
            if at == 0 {
                watchers.drain(..case.n_leaving.min(watchers.len()));
            }
        }
        if let Some(ended) = case.ended {
            let session = &world.sessions[ended];
            session.terminate().await;
            for (_, watcher) in watchers.iter_mut().filter(|(n, _)| *n == ended) {
                watcher.closed().await;
            }
            eventually("nothing of its desktop is left", || {
                processes_with_mount(&session.id).is_empty()
            });
            let refused = world.client.upgrade(&session.path("/vnc")).await;
            assert_eq!(refused.status, 409);
            for (n, watcher) in watchers.iter_mut().filter(|(n, _)| *n != ended) {
                watcher.until(POINT, colours[*n]).await;
            }
            world.sessions[ended] = with_window(&world.client).await;
        }
    });
}
