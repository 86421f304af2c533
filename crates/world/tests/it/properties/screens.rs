use deskhand_testkit::{Client, Session, Watcher};
use deskhand_world::{World, WorldOptions};
use futures::future::join_all;
use proptest::{collection::vec, prelude::*};

use super::for_all;

const N_SESSIONS: usize = 3;
const POINT: (usize, usize) = (200, 250);

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
    let ended = prop_oneof![4 => Just(None), 1 => (0..N_SESSIONS).prop_map(Some)];
    (watchers, paintings, 0..3_usize, ended).prop_map(|(watchers, paintings, n_leaving, ended)| {
        Case {
            watchers,
            paintings,
            n_leaving,
            ended,
        }
    })
}

struct Stage {
    world: World,
    client: Client,
    sessions: Vec<Session>,
}

async fn open(options: WorldOptions) -> Stage {
    let world = World::with(options).await;
    let client = world.client();
    Stage {
        sessions: join_all((0..N_SESSIONS).map(|_| awake(&client))).await,
        client,
        world,
    }
}

async fn awake(client: &Client) -> Session {
    let session = client.new_session("scripted/demo").await;
    session.shell("true").await;
    session
}

fn paint(world: &World, session: &Session, colour: [u8; 3]) {
    let computer = world.sandboxes().running(session.id.parse().unwrap());
    computer.unwrap().paint(colour);
}

/// **Feature: computer-use-backend, Property 6: VNC functionality**
///
/// Any number of watchers of any sessions see the screen of theirs, and only that, as it changes,
/// whoever else leaves. When a session is ended, its watchers are told and its screen is gone.
#[test]
fn every_watcher_sees_the_screen_of_their_session() {
    for_all(&case(), &open, &async |stage: &mut Stage, case| {
        let looking = case
            .watchers
            .iter()
            .map(|n| Watcher::open(&stage.sessions[*n]));
        let watchers = join_all(looking).await;
        let mut watchers: Vec<_> = case.watchers.iter().copied().zip(watchers).collect();
        for (n, watcher) in &watchers {
            assert_eq!(watcher.size(), (1024, 768), "session {n}");
        }
        let mut colours: [[u8; 3]; N_SESSIONS] = [[1, 2, 3], [4, 5, 6], [7, 8, 9]];
        for (session, colour) in stage.sessions.iter().zip(colours) {
            paint(&stage.world, session, colour);
        }
        for (at, (n, colour)) in case.paintings.iter().enumerate() {
            paint(&stage.world, &stage.sessions[*n], *colour);
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
            let session = &stage.sessions[ended];
            session.terminate().await;
            for (_, watcher) in watchers.iter_mut().filter(|(n, _)| *n == ended) {
                watcher.closed().await;
            }
            let refused = stage.client.upgrade(&session.path("/vnc")).await;
            assert_eq!(refused.status, 409);
            for (n, watcher) in watchers.iter_mut().filter(|(n, _)| *n != ended) {
                watcher.until(POINT, colours[*n]).await;
            }
            stage.sessions[ended] = awake(&stage.client).await;
        }
    });
}
