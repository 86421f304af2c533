//! A shell for a test.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use deskhand_core::{
    shell::{ShellEnding, ShellOutput, ShellRequest},
    tasks::Tasks,
};
use deskhand_runner::shell::{OnOutput, Shell, ShellConfig, ShellError};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A shell with its own home. Everything ends with it.
pub(super) struct Desk {
    pub(super) shell: Shell,
    pub(super) home: TempDir,
    pub(super) tasks: Tasks,
}

impl Desk {
    pub(super) fn open() -> Self {
        Self::open_with_output(64 * 1024)
    }

    pub(super) fn open_with_output(output_bytes: usize) -> Self {
        let home = tempfile::tempdir().unwrap();
        let tasks = Tasks::default();
        let config = ShellConfig {
            home: home.path().canonicalize().unwrap(),
            display: Some(":77".to_owned()),
            output_bytes,
            variables: std::collections::BTreeMap::new(),
        };
        Self {
            shell: Shell::start(config, &tasks).unwrap(),
            home,
            tasks,
        }
    }

    pub(super) fn home(&self) -> String {
        self.home
            .path()
            .canonicalize()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned()
    }

    pub(super) async fn run(&self, command: &str) -> ShellOutput {
        self.run_for(command, 30_000).await
    }

    pub(super) async fn run_for(&self, command: &str, timeout_ms: u64) -> ShellOutput {
        let request = ShellRequest::Run {
            command: command.to_owned(),
            timeout_ms,
        };
        self.perform(request).await.unwrap()
    }

    pub(super) async fn perform(&self, request: ShellRequest) -> Result<ShellOutput, ShellError> {
        self.shell
            .perform(request, silent(), CancellationToken::new())
            .await
    }

    /// Returns the output of a command that must succeed.
    pub(super) async fn text(&self, command: &str) -> String {
        let output = self.run(command).await;
        assert_eq!(
            output.ending,
            ShellEnding::Exited { code: 0 },
            "{command}: {output:?}"
        );
        output.output
    }

    /// Repeats a command until it succeeds.
    pub(super) async fn until(&self, command: &str) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while self.run(command).await.ending != (ShellEnding::Exited { code: 0 }) {
            assert!(Instant::now() < deadline, "{command} stays false");
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.tasks.shutdown().cancel();
    }
}

pub(super) fn silent() -> OnOutput {
    Arc::new(|_| {})
}

pub(super) fn exited(code: i32) -> ShellEnding {
    ShellEnding::Exited { code }
}
