//! Checks from outside that a program has handled its input: it sleeps, and has not been awake for a while.
//!
//! A program that is late on a busy machine does not sleep but waits to be scheduled. So this holds however slow
//! the machine is, unlike any fixed delay.

use std::time::Duration;

use rustix::process::{Pid, RawPid};
use tokio::time::Instant;

use super::{ActError, seat::SeatHandle};

/// The time that a program must have slept.
///
/// It also sleeps while it waits for a reply of the X server, but only for microseconds, and we make a request to
/// the X server in that time too.
const REST: Duration = Duration::from_millis(8);

/// The time after which a program that never rests is assumed to have its input.
const REST_MAX: Duration = Duration::from_secs(2);

/// The state of a program at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Glance {
    is_asleep: bool,
    /// The number of times it went to sleep by itself since it started.
    n_sleeps: u64,
}

impl SeatHandle {
    /// Waits until the focused program has handled all input so far. Returns false if it cannot be observed.
    pub(super) async fn let_focused_rest(&self) -> Result<bool, ActError> {
        // The X server has already confirmed the input. It replies to this later request only after it has sent its
        // events to all clients.
        let pid = self.run(|seat| seat.focused_client_pid()).await?;
        let pid = pid.and_then(|pid| Pid::from_raw(RawPid::try_from(pid).ok()?));
        let Some(mut before) = pid.and_then(glance) else {
            return Ok(false);
        };
        let give_up_at = Instant::now() + REST_MAX;
        loop {
            tokio::time::sleep(REST).await;
            self.run(|seat| seat.sync()).await?;
            // A program that has ended has nothing left to do.
            let Some(now) = pid.and_then(glance) else {
                return Ok(true);
            };
            if (now.is_asleep && now == before) || Instant::now() >= give_up_at {
                return Ok(true);
            }
            before = now;
        }
    }
}

/// Reads the state of a process. Returns `None` if there is no such process.
fn glance(pid: Pid) -> Option<Glance> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).ok()?;
    read_glance(&status)
}

fn read_glance(status: &str) -> Option<Glance> {
    let field = |name: &str| {
        let mut lines = status.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(str::trim))
    };
    Some(Glance {
        is_asleep: field("State")?.starts_with('S'),
        n_sleeps: field("voluntary_ctxt_switches")?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_from_what_the_kernel_says() {
        let status = "Name:\txterm\nState:\tS (sleeping)\nvoluntary_ctxt_switches:\t150\n\
                      nonvoluntary_ctxt_switches:\t545\n";
        let asleep = Glance {
            is_asleep: true,
            n_sleeps: 150,
        };
        assert_eq!(read_glance(status), Some(asleep));
        let running = status.replace("S (sleeping)", "R (running)");
        assert!(!read_glance(&running).unwrap().is_asleep);
        assert_eq!(read_glance("State:\tS (sleeping)\n"), None);
    }
}
