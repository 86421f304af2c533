//! The thread that a world's server runs on.

use std::{thread::JoinHandle, time::Duration};

use deskhand_app::App;
use deskhand_core::{secret::Secret, tasks::Tasks};
use deskhand_testkit::sandboxes::FakeSandboxes;
use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
    time,
};

use crate::{
    clock::MovedClock,
    wiring::{Blueprint, GatewayParts},
};

/// Time moves in at most this many steps.
const MAX_STEPS: u32 = 100;
/// A step is at least this long, unless less time passes.
const SHORTEST_STEP: Duration = Duration::from_secs(2);
/// The real time after each step, in which the server reacts.
const REACTION: Duration = Duration::from_millis(1);
/// The real time in which all jobs have to come to rest after each step.
const REST_TIMEOUT: Duration = Duration::from_secs(60);

/// The way in which a server ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// As after `SIGTERM`: turns are parked, and everybody is told.
    InOrder,
    /// All tasks are dropped where they are.
    Crash,
}

/// A server on a thread and a runtime of its own. Its runtime has one thread, because only then tokio lets time be
/// moved, and it can be dropped with everything in it. It crashes on drop.
#[derive(Debug)]
pub(crate) struct ServerThread {
    runtime: Handle,
    /// Dropped before the server ends, so that nothing of it outlives its runtime.
    app: Option<App>,
    end: Option<oneshot::Sender<Ending>>,
    thread: Option<JoinHandle<()>>,
}

impl ServerThread {
    /// Starts a server and waits until it serves. Returns it with the administrator's token.
    pub(crate) async fn start(
        blueprint: Blueprint,
        sandboxes: FakeSandboxes,
        gateway: GatewayParts,
        tasks: Tasks,
    ) -> (Self, Secret) {
        let (end, ended) = oneshot::channel();
        let (ready, started) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let _logging = blueprint.log.capture();
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let running = blueprint.build(sandboxes, gateway, tasks).await;
                let token = running.admin_token.clone();
                let app = running.app.clone();
                if ready.send((Handle::current(), token, app)).is_err() {
                    return;
                }
                match ended.await {
                    Ok(Ending::InOrder) => running.end().await,
                    // The world was dropped.
                    Ok(Ending::Crash) | Err(_) => {}
                }
            });
        });
        let (runtime, token, app) = started.await.expect("the server starts");
        let server = Self {
            runtime,
            app: Some(app),
            end: Some(end),
            thread: Some(thread),
        };
        (server, token)
    }

    /// Moves the clock and all timers of the server.
    ///
    /// It goes in steps, because an answer from outside the server, such as a client's pong, arrives in real time:
    /// in one step every timeout would be over before it. After each step it waits until no job is running, so that
    /// what was due is done and no query of a job runs into its timeout.
    pub(crate) async fn pass(&self, clock: MovedClock, time: Duration) {
        let step = (time / MAX_STEPS).max(SHORTEST_STEP);
        let app = self.app.clone().expect("the server runs");
        let passing = self.runtime.spawn(async move {
            let mut left = time;
            while !left.is_zero() {
                let step = step.min(left);
                clock.advance(step);
                time::pause();
                time::advance(step).await;
                time::resume();
                time::sleep(REACTION).await;
                left -= step;
                let at_rest = async {
                    while app.health().jobs().iter().any(|job| job.is_running) {
                        time::sleep(REACTION).await;
                    }
                };
                let rested = time::timeout(REST_TIMEOUT, at_rest).await;
                rested.expect("all jobs come to rest");
            }
        });
        passing.await.unwrap();
    }

    /// Ends the server and waits until nothing of it is left.
    pub(crate) async fn end(mut self, ending: Ending) {
        drop(self.app.take());
        let end = self.end.take().expect("it ends once");
        let thread = self.thread.take().expect("it ends once");
        end.send(ending).expect("the server runs");
        let joining = tokio::task::spawn_blocking(move || thread.join());
        joining.await.unwrap().expect("the server did not panic");
    }
}

impl Drop for ServerThread {
    fn drop(&mut self) {
        drop(self.app.take());
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // A panic in it has been printed, and a test that needed it has failed.
            let _ = thread.join();
        }
    }
}
