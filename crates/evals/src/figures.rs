//! The figures of results: a success rate with its confidence interval, and medians.

/// The quantile of the normal distribution for 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// A share of trials, with the interval that contains the true rate with a confidence of 95 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    pub n_passed: u64,
    pub n: u64,
    /// From 0 to 1.
    pub rate: f64,
    pub low: f64,
    pub high: f64,
}

impl Rate {
    /// Returns the rate of `n_passed` out of `n`, with Wilson's score interval. It holds for few trials, and for rates of
    /// 0 and 1, as the usual one does not. Returns `None` without trials.
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of trials stay far below 2^53"
    )]
    pub fn of(n_passed: u64, n: u64) -> Option<Self> {
        if n == 0 {
            return None;
        }
        let (passed, total) = (n_passed.min(n) as f64, n as f64);
        let rate = passed / total;
        let square = Z * Z;
        let centre = rate + square / (2.0 * total);
        let spread = Z * (rate * (1.0 - rate) / total + square / (4.0 * total * total)).sqrt();
        let scale = 1.0 + square / total;
        Some(Self {
            n_passed: n_passed.min(n),
            n,
            rate,
            low: ((centre - spread) / scale).clamp(0.0, rate),
            high: ((centre + spread) / scale).clamp(rate, 1.0),
        })
    }
}

/// Returns the median, or `None` without values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *values.get(middle.checked_sub(1)?)?;
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(n_passed: u64, n: u64) -> (f64, f64) {
        let rate = Rate::of(n_passed, n).unwrap();
        let rounded = |value: f64| (value * 1e4).round() / 1e4;
        (rounded(rate.low), rounded(rate.high))
    }

    /// The values are those of R's `binom::binom.wilson`.
    #[test]
    fn the_interval_is_wilsons() {
        assert_eq!(interval(5, 10), (0.2366, 0.7634));
        assert_eq!(interval(15, 20), (0.5313, 0.8881));
        assert_eq!(interval(1, 3), (0.0615, 0.7923));
        assert_eq!(interval(90, 100), (0.8256, 0.9448));
    }

    #[test]
    fn all_and_nothing_leave_room_for_doubt() {
        assert_eq!(interval(20, 20), (0.8389, 1.0));
        assert_eq!(interval(0, 20), (0.0, 0.1611));
        assert_eq!(Rate::of(0, 0), None);
    }

    #[test]
    fn the_rate_is_always_within_its_interval() {
        for n in 1..60 {
            for n_passed in 0..=n {
                let rate = Rate::of(n_passed, n).unwrap();
                let ordered = [0.0, rate.low, rate.rate, rate.high, 1.0];
                assert!(ordered.is_sorted(), "{rate:?}");
            }
        }
    }

    #[test]
    fn the_median_is_the_middle_or_between_two() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0]), Some(3.0));
        assert_eq!(median(vec![9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 9.0]), Some(3.0));
    }
}
