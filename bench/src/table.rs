//! The table at the end of each part.

use std::{
    fmt,
    sync::atomic::{AtomicUsize, Ordering},
};

/// The number of missed targets in all tables.
static N_MISSED: AtomicUsize = AtomicUsize::new(0);

/// A single measurement.
pub(crate) struct Row {
    what: &'static str,
    unit: &'static str,
    ours: f64,
    peer: Option<f64>,
    /// The factor by which ours is better, if there is a peer.
    ratio: Option<f64>,
    target: Option<Target>,
}

/// The target for ours.
enum Target {
    AtMost(f64),
    AtLeast(f64),
    /// This many times as good as the peer.
    Times(f64),
}

impl Row {
    pub(crate) fn ms(what: &'static str, ours: f64, peer: Option<f64>, target: f64) -> Self {
        Self::at_most(what, "ms", ours, peer, target)
    }

    pub(crate) fn mb(what: &'static str, ours: f64, target: f64) -> Self {
        Self::at_most(what, "MB", ours, None, target)
    }

    /// Creates a row for a cost, which should be small.
    pub(crate) fn at_most(
        what: &'static str,
        unit: &'static str,
        ours: f64,
        peer: Option<f64>,
        target: f64,
    ) -> Self {
        Self {
            what,
            unit,
            ours,
            peer,
            ratio: peer.map(|peer| peer / ours),
            target: Some(Target::AtMost(target)),
        }
    }

    /// Creates a row for work per second, which should be `times` the peer's.
    pub(crate) fn per_second(what: &'static str, ours: f64, peer: f64, times: f64) -> Self {
        Self {
            what,
            unit: "/s",
            ours,
            peer: Some(peer),
            ratio: Some(ours / peer),
            target: Some(Target::Times(times)),
        }
    }

    /// Creates a row for a duration that should be `times` shorter than the peer's.
    pub(crate) fn times(what: &'static str, ours: f64, peer: f64, times: f64) -> Self {
        Self {
            target: Some(Target::Times(times)),
            ..Self::ms(what, ours, Some(peer), times)
        }
    }

    /// Creates a row for a size that should be `times` smaller than the peer's.
    pub(crate) fn smaller(what: &'static str, ours_kb: f64, peer_kb: f64, times: f64) -> Self {
        Self {
            target: Some(Target::Times(times)),
            ..Self::at_most(what, "kB", ours_kb, Some(peer_kb), times)
        }
    }

    /// Creates a row for work per second, of which there should be at least `least`.
    pub(crate) fn at_least(what: &'static str, ours: f64, peer: f64, least: f64) -> Self {
        Self {
            target: Some(Target::AtLeast(least)),
            ..Self::per_second(what, ours, peer, least)
        }
    }

    /// Removes the target, so that the row is only shown.
    pub(crate) fn without_target(mut self) -> Self {
        self.target = None;
        self
    }

    /// Returns true unless there is a target that was missed.
    fn is_met(&self) -> bool {
        match self.target {
            None => true,
            Some(Target::AtMost(most)) => self.ours <= most,
            Some(Target::AtLeast(least)) => self.ours >= least,
            Some(Target::Times(times)) => self.ratio.is_some_and(|ratio| ratio >= times),
        }
    }

    fn verdict(&self) -> String {
        let mark = if self.is_met() { "✓" } else { "✗" };
        match self.target {
            None => String::new(),
            Some(Target::AtMost(most)) => format!("≤ {most} {mark}"),
            Some(Target::AtLeast(least)) => format!("≥ {least} {mark}"),
            Some(Target::Times(times)) => format!("≥ {times}× {mark}"),
        }
    }
}

/// The measurements, next to a peer.
pub(crate) struct Table {
    peer: &'static str,
    rows: Vec<Row>,
}

impl Table {
    pub(crate) fn next_to(peer: &'static str) -> Self {
        Self {
            peer,
            rows: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, row: Row) {
        if !row.is_met() {
            N_MISSED.fetch_add(1, Ordering::Relaxed);
        }
        self.rows.push(row);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        writeln!(
            f,
            "{:<32} {:>12} {:>13} {:>7} {:>12}",
            "median", "ours", self.peer, "ratio", "target"
        )?;
        for row in &self.rows {
            let shown = |value: f64| match row.unit {
                "/s" => format!("{value:.0} {}", row.unit),
                _ => format!("{value:.1} {}", row.unit),
            };
            let ratio = row.ratio.map_or(String::new(), |ratio| match ratio {
                ..10.0 => format!("{ratio:.1}×"),
                _ => format!("{ratio:.0}×"),
            });
            writeln!(
                f,
                "{:<32} {:>12} {:>13} {ratio:>7} {:>12}",
                row.what,
                shown(row.ours),
                row.peer.map_or(String::new(), shown),
                row.verdict()
            )?;
        }
        Ok(())
    }
}

/// Returns the number of targets that were missed so far.
pub(crate) fn n_missed() -> usize {
    N_MISSED.load(Ordering::Relaxed)
}

/// Returns the median.
pub(crate) fn median(samples: Vec<f64>) -> f64 {
    part(samples, 0.5)
}

/// Returns the sample at this quantile.
pub(crate) fn part(mut samples: Vec<f64>, part: f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "there are few samples"
    )]
    let index = (samples.len() as f64 * part) as usize;
    samples[index.min(samples.len() - 1)]
}
