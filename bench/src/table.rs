//! The table at the end of each part.

use std::fmt;

/// One thing that was measured.
pub(crate) struct Row {
    what: &'static str,
    unit: &'static str,
    ours: f64,
    peer: Option<f64>,
    /// How much better ours is, when there is a peer.
    ratio: Option<f64>,
    target: Option<Target>,
}

/// What ours should be.
enum Target {
    AtMost(f64),
    /// So many times as good as the peer.
    Times(f64),
}

impl Row {
    pub(crate) fn ms(what: &'static str, ours: f64, peer: Option<f64>, target: f64) -> Self {
        Self::at_most(what, "ms", ours, peer, target)
    }

    pub(crate) fn mb(what: &'static str, ours: f64, target: f64) -> Self {
        Self::at_most(what, "MB", ours, None, target)
    }

    /// A cost, which should be small.
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

    /// Work per second, of which there should be much more than the peer's.
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

    /// A time that should be so many times shorter than the peer's.
    pub(crate) fn times(what: &'static str, ours: f64, peer: f64, times: f64) -> Self {
        Self {
            target: Some(Target::Times(times)),
            ..Self::ms(what, ours, Some(peer), times)
        }
    }

    /// For what stands in the table to be seen.
    pub(crate) fn without_target(mut self) -> Self {
        self.target = None;
        self
    }

    fn verdict(&self) -> String {
        let mark = |is_met: bool| if is_met { "✓" } else { "✗" };
        match self.target {
            None => String::new(),
            Some(Target::AtMost(most)) => format!("≤ {most} {}", mark(self.ours <= most)),
            Some(Target::Times(times)) => {
                let is_met = self.ratio.is_some_and(|ratio| ratio >= times);
                format!("≥ {times}× {}", mark(is_met))
            }
        }
    }
}

/// What was measured, next to a peer.
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

/// The middle one.
pub(crate) fn median(samples: Vec<f64>) -> f64 {
    part(samples, 0.5)
}

/// The sample that this part of all samples is below.
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
