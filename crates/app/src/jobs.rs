//! Background work as a list of jobs, run by one runner, each with its last result.
//!
//! A job takes no input: each run looks at the current state and does what is due. So a run may come too often, and
//! the next run makes up for a failed one.

mod decisions;
pub(crate) mod keeper;
mod leftovers;
mod network;
mod news;
mod reseal;
mod retention;
mod token_uses;

use std::{
    error::Error,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use deskhand_core::{clock::Clock, tasks::Tasks};
use jiff::Timestamp;
use tokio::{sync::Notify, time::Instant};

pub(crate) use self::{
    decisions::SettleExpired, keeper::Keeper, leftovers::RemoveLeftovers, network::KeepNetwork,
    news::TellNews, reseal::ResealSecrets, retention::Retention, token_uses::WriteTokenUses,
};

/// The pause after a run that failed.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Work that is repeated while the server runs.
#[async_trait]
pub(crate) trait Job: Send + Sync + std::fmt::Debug {
    /// Returns its name, as `/health` shows it.
    fn name(&self) -> &'static str;

    /// Returns the longest time between two runs.
    fn period(&self) -> Duration;

    /// Returns the shortest time between two runs.
    fn least_pause(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns the signal that there may be something to do before the period is over.
    fn nudge(&self) -> Option<&Notify> {
        None
    }

    /// Returns `true` if the job runs once more at shutdown.
    fn runs_at_shutdown(&self) -> bool {
        false
    }

    /// Does what is due.
    async fn run(&self) -> Result<JobReport, JobError>;
}

pub(crate) type JobError = Box<dyn Error + Send + Sync>;

/// The outcome of a successful run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct JobReport {
    /// The time until something is due, if it is known.
    pub(crate) next_in: Option<Duration>,
}

/// The last result of a job.
#[derive(Debug, Clone, Copy)]
pub struct JobStatus {
    pub name: &'static str,
    /// `None` before the first run has ended.
    pub last_run: Option<JobRun>,
    /// True while it is running.
    pub is_running: bool,
}

/// A finished run of a job.
#[derive(Debug, Clone, Copy)]
pub struct JobRun {
    /// False if the run failed. The reason is in the server's log.
    pub is_ok: bool,
    pub ended_at: Timestamp,
    pub duration: Duration,
}

/// The jobs that run. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Jobs(Arc<[RunningJob]>);

#[derive(Debug)]
struct RunningJob {
    job: Arc<dyn Job>,
    last_run: Mutex<Option<JobRun>>,
    is_running: AtomicBool,
}

impl Jobs {
    /// Starts all jobs. They run until the server ends.
    pub(crate) fn start(jobs: Vec<Arc<dyn Job>>, clock: &Arc<dyn Clock>, tasks: &Tasks) -> Self {
        let running = jobs.into_iter().map(|job| RunningJob {
            job,
            last_run: Mutex::default(),
            is_running: AtomicBool::new(true),
        });
        let jobs = Self(running.collect());
        for (index, running) in jobs.0.iter().enumerate() {
            let (jobs, clock, end) = (jobs.clone(), Arc::clone(clock), tasks.shutdown().clone());
            tasks.spawn(running.job.name(), async move {
                let Some(running) = jobs.0.get(index) else {
                    return;
                };
                // Dropping a run at shutdown is safe: the next start makes up for it.
                let _ = end.run_until_cancelled(running.keep(&*clock)).await;
                if running.job.runs_at_shutdown() {
                    running.run(&*clock).await;
                }
            });
        }
        jobs
    }

    /// Returns the last result of every job.
    pub(crate) fn statuses(&self) -> Vec<JobStatus> {
        let status = |running: &RunningJob| JobStatus {
            name: running.job.name(),
            last_run: *running
                .last_run
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
            is_running: running.is_running.load(Ordering::Relaxed),
        };
        self.0.iter().map(status).collect()
    }
}

impl RunningJob {
    async fn keep(&self, clock: &dyn Clock) {
        loop {
            let wait = self.run(clock).await;
            let earliest = self.job.least_pause();
            tokio::time::sleep(earliest).await;
            let nudged = async {
                match self.job.nudge() {
                    Some(nudge) => nudge.notified().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = tokio::time::sleep(wait.saturating_sub(earliest)) => {}
                () = nudged => {}
            }
        }
    }

    /// Runs the job once and records the result. Returns the time until the next run.
    async fn run(&self, clock: &dyn Clock) -> Duration {
        let (job, started) = (&self.job, Instant::now());
        self.is_running.store(true, Ordering::Relaxed);
        let result = job.run().await;
        if let Err(error) = &result {
            let error = &**error as &(dyn Error + 'static);
            tracing::warn!(
                job = job.name(),
                error,
                "a job failed and will be tried again"
            );
        }
        let run = JobRun {
            is_ok: result.is_ok(),
            ended_at: clock.now(),
            duration: started.elapsed(),
        };
        let mut last_run = self.last_run.lock().unwrap_or_else(PoisonError::into_inner);
        *last_run = Some(run);
        self.is_running.store(false, Ordering::Relaxed);
        match result {
            Ok(report) => report.next_in.unwrap_or(job.period()).min(job.period()),
            Err(_) => RETRY_DELAY.min(job.period()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use deskhand_core::clock::SystemClock;

    use super::*;

    #[derive(Debug, Default)]
    struct Counting {
        n_runs: AtomicUsize,
        nudge: Notify,
    }

    #[async_trait]
    impl Job for Counting {
        fn name(&self) -> &'static str {
            "counting"
        }

        fn period(&self) -> Duration {
            Duration::from_mins(1)
        }

        fn nudge(&self) -> Option<&Notify> {
            Some(&self.nudge)
        }

        fn runs_at_shutdown(&self) -> bool {
            true
        }

        async fn run(&self) -> Result<JobReport, JobError> {
            // The second run fails.
            match self.n_runs.fetch_add(1, Ordering::Relaxed) {
                1 => Err("out of order".into()),
                _ => Ok(JobReport::default()),
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_job_runs_on_time_on_a_nudge_after_a_failure_and_at_the_end() {
        let job = Arc::new(Counting::default());
        let n_runs = || job.n_runs.load(Ordering::Relaxed);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let tasks = Tasks::default();
        let jobs = Jobs::start(vec![Arc::<Counting>::clone(&job)], &clock, &tasks);
        assert!(jobs.statuses()[0].last_run.is_none());
        let is_ok = || jobs.statuses()[0].last_run.map(|run| run.is_ok);

        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!((n_runs(), is_ok()), (1, Some(true)), "at once");
        job.nudge.notify_one();
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!((n_runs(), is_ok()), (2, Some(false)), "on a nudge");
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(
            (n_runs(), is_ok()),
            (3, Some(true)),
            "again after a failure"
        );
        tokio::time::sleep(Duration::from_mins(1)).await;
        assert_eq!(n_runs(), 4, "after its period");
        assert!(tasks.end(Duration::from_secs(1)).await);
        assert_eq!(n_runs(), 5, "at the end");
    }
}
