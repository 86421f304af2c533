//! The memory that the network of one sandbox takes.

use deskhand_testkit::{Server, processes_with_mount, rss_bytes};

/// The memory of runner and server, in MB: before any connection, and with 200 of them.
pub(super) struct Memory {
    server_pid: i32,
    runner_pid: i32,
    server_mb: [f64; 2],
    runner_mb: [f64; 2],
}

impl Memory {
    /// Looks at a server with one sandbox.
    pub(super) fn of(server: &Server) -> Self {
        let inside = processes_with_mount(&server.mark());
        let mut inside = inside.into_iter();
        let runner = inside.find(|(_, line)| line.contains("deskhand runner"));
        let (server_pid, runner_pid) = (server.pid(), runner.expect("the runner runs").0);
        Self {
            server_pid,
            runner_pid,
            server_mb: [megabytes(server_pid), f64::NAN],
            runner_mb: [megabytes(runner_pid), f64::NAN],
        }
    }

    pub(super) fn look_again(&mut self) {
        self.server_mb[1] = megabytes(self.server_pid);
        self.runner_mb[1] = megabytes(self.runner_pid);
    }

    pub(super) fn show(&self, slirp_mb: Option<f64>) {
        let [runner, runner_busy] = self.runner_mb;
        let [server, server_busy] = self.server_mb;
        println!(
            "Memory of a sandbox's network: the runner has {runner:.1} MB, and {runner_busy:.1} MB with 200 \
             connections open. The server grows by {:.1} MB for these, from {server:.1} MB.",
            server_busy - server
        );
        if let Some(slirp_mb) = slirp_mb {
            println!("slirp4netns has {slirp_mb:.1} MB with the same connections open.");
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "memory is far smaller than that"
)]
pub(super) fn megabytes(pid: i32) -> f64 {
    rss_bytes(pid) as f64 / 1e6
}
