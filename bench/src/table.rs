//! The table at the end.

use std::fmt;

/// One thing that was measured.
pub(crate) struct Row {
    what: &'static str,
    unit: &'static str,
    ours: f64,
    peer: Option<f64>,
    target: Option<f64>,
}

impl Row {
    pub(crate) fn ms(what: &'static str, ours: f64, peer: Option<f64>, target: f64) -> Self {
        Self {
            what,
            unit: "ms",
            ours,
            peer,
            target: Some(target),
        }
    }

    /// For what stands in the table to be seen.
    pub(crate) fn without_target(mut self) -> Self {
        self.target = None;
        self
    }

    pub(crate) fn mb(what: &'static str, ours: f64, target: f64) -> Self {
        Self {
            what,
            unit: "MB",
            ours,
            peer: None,
            target: Some(target),
        }
    }
}

#[derive(Default)]
pub(crate) struct Table(Vec<Row>);

impl Table {
    pub(crate) fn add(&mut self, row: Row) {
        self.0.push(row);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        writeln!(
            f,
            "{:<32} {:>11} {:>13} {:>7} {:>12}",
            "median", "ours", "xdotool/scrot", "ratio", "target"
        )?;
        for row in &self.0 {
            let ours = format!("{:.1} {}", row.ours, row.unit);
            let peer = row
                .peer
                .map_or(String::new(), |peer| format!("{peer:.1} {}", row.unit));
            let ratio = row
                .peer
                .map_or(String::new(), |peer| format!("{:.0}×", peer / row.ours));
            let target = row.target.map_or(String::new(), |target| {
                let verdict = if row.ours <= target { "✓" } else { "✗" };
                format!("≤ {target} {verdict}")
            });
            writeln!(
                f,
                "{:<32} {ours:>11} {peer:>13} {ratio:>7} {target:>12}",
                row.what
            )?;
        }
        Ok(())
    }
}

/// The middle one.
pub(crate) fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}
