//! Enlarging a picture so that small print stays readable: Catmull–Rom, along rows and then
//! along columns.

use deskhand_core::action::ScreenSize;

/// How finely weights are told apart: they add up to this.
const ONE: i32 = 1 << 12;

/// Which four neighbours a new pixel is made of, and how much of each.
#[derive(Debug, Clone, Copy)]
struct Mix {
    from: [usize; 4],
    weights: [i32; 4],
}

/// Enlarges `bgrx` (four bytes a pixel) from one size to another.
pub(super) fn enlarge(bgrx: &[u8], from: ScreenSize, to: ScreenSize) -> Vec<u8> {
    let columns = mixes(from.width.into(), to.width.into());
    let rows = mixes(from.height.into(), to.height.into());
    let row_bytes = 4 * usize::from(from.width);
    let wide: Vec<u8> = bgrx
        .chunks_exact(row_bytes)
        .flat_map(|row| {
            let (pixels, _) = row.as_chunks::<4>();
            columns.iter().flat_map(move |mix| mix.of(pixels))
        })
        .collect();
    let wide_bytes = 4 * usize::from(to.width);
    let mut tall = Vec::with_capacity(wide_bytes * usize::from(to.height));
    for mix in &rows {
        let lines = mix.from.map(|row| &wide[row * wide_bytes..][..wide_bytes]);
        let [a, b, c, d] = mix.weights;
        tall.extend(
            (lines[0].iter().zip(lines[1]))
                .zip(lines[2].iter().zip(lines[3]))
                .map(|((p, q), (r, s))| {
                    rounded(
                        a * i32::from(*p)
                            + b * i32::from(*q)
                            + c * i32::from(*r)
                            + d * i32::from(*s),
                    )
                }),
        );
    }
    tall
}

impl Mix {
    fn of(&self, pixels: &[[u8; 4]]) -> [u8; 4] {
        let near = self.from.map(|index| pixels[index]);
        std::array::from_fn(|channel| {
            let parts = near.iter().zip(self.weights);
            rounded(
                parts
                    .map(|(pixel, weight)| weight * i32::from(pixel[channel]))
                    .sum(),
            )
        })
    }
}

/// How each of `n_to` pixels is made of `n_from`. Pixels past an edge repeat the edge.
fn mixes(n_from: u32, n_to: u32) -> Vec<Mix> {
    let ratio = f64::from(n_from) / f64::from(n_to);
    (0..n_to)
        .map(|index| {
            let centre = (f64::from(index) + 0.5) * ratio - 0.5;
            let weights = weights(centre - centre.floor());
            let from = [-1.0, 0.0, 1.0, 2.0].map(|step| clamped(centre.floor() + step, n_from));
            Mix { from, weights }
        })
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value was just limited to 0 and a width or height, which are whole and small"
)]
fn clamped(position: f64, n_from: u32) -> usize {
    position.clamp(0.0, f64::from(n_from - 1)) as usize
}

/// The Catmull–Rom weights for a point this far (0 to 1) past the second neighbour.
#[expect(
    clippy::cast_possible_truncation,
    reason = "weights are between -1 and 1, so that `ONE` times a weight is small"
)]
fn weights(t: f64) -> [i32; 4] {
    let whole = f64::from(ONE);
    let first = (-0.5 * t + t * t - 0.5 * t * t * t) * whole;
    let third = (0.5 * t + 2.0 * t * t - 1.5 * t * t * t) * whole;
    let fourth = (-0.5 * t * t + 0.5 * t * t * t) * whole;
    let [first, third, fourth] = [first, third, fourth].map(|weight| weight.round() as i32);
    [first, ONE - first - third - fourth, third, fourth]
}

fn rounded(sum: i32) -> u8 {
    u8::try_from(((sum + ONE / 2) / ONE).clamp(0, 255)).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_add_up_and_a_point_on_a_pixel_is_that_pixel() {
        assert_eq!(weights(0.0), [0, ONE, 0, 0]);
        for step in 0..=20 {
            let t = f64::from(step) / 20.0;
            assert_eq!(weights(t).iter().sum::<i32>(), ONE, "{t}");
        }
    }

    #[test]
    fn one_colour_stays_that_colour() {
        let from = ScreenSize {
            width: 3,
            height: 2,
        };
        let to = ScreenSize {
            width: 17,
            height: 11,
        };
        let enlarged = enlarge(&[9, 99, 200, 0].repeat(6), from, to);
        assert_eq!(enlarged, [9, 99, 200, 0].repeat(17 * 11));
    }
}
