//! The size of a picture above which Anthropic shrinks or rejects it.

use deskhand_core::action::ScreenSize;

/// The edge of the squares that pictures are cut into, in pixels. Each square costs a token.
const SQUARE: u32 = 28;

/// The resolution at which a model sees pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resolution {
    Standard,
    Sharp,
}

impl Resolution {
    fn longest_edge(self) -> u32 {
        match self {
            Self::Standard => 1568,
            Self::Sharp => 2576,
        }
    }

    fn most_tokens(self) -> u32 {
        match self {
            Self::Standard => 1568,
            Self::Sharp => 4784,
        }
    }

    fn fits(self, width: u32, height: u32) -> bool {
        let (across, down) = (width.div_ceil(SQUARE), height.div_ceil(SQUARE));
        across * SQUARE <= self.longest_edge()
            && down * SQUARE <= self.longest_edge()
            && across * down <= self.most_tokens()
    }
}

/// Returns the largest size of the same shape that is not shrunk and whose edges are at most `longest`.
pub(super) fn shown(native: ScreenSize, resolution: Resolution, longest: u32) -> ScreenSize {
    let (width, height) = (u32::from(native.width), u32::from(native.height));
    let fits =
        |width: u32, height: u32| width.max(height) <= longest && resolution.fits(width, height);
    if fits(width, height) {
        return native;
    }
    let is_tall = height > width;
    let (long, short) = if is_tall {
        (height, width)
    } else {
        (width, height)
    };
    let shape = f64::from(long) / f64::from(short);
    // Binary search for the longest edge that fits.
    let (mut fitting, mut too_long) = (1, long);
    while too_long - fitting > 1 {
        let middle = fitting.midpoint(too_long);
        if fits(middle, shorter(middle, shape)) {
            fitting = middle;
        } else {
            too_long = middle;
        }
    }
    let (long, short) = (fitting, shorter(fitting, shape));
    let (width, height) = if is_tall {
        (short, long)
    } else {
        (long, short)
    };
    // At most the screen's own edges, which have 16 bits.
    let small = |edge: u32| u16::try_from(edge).unwrap_or(u16::MAX);
    ScreenSize {
        width: small(width),
        height: small(height),
    }
}

/// Returns the short edge that belongs to a long one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 1 and the long edge"
)]
fn shorter(long: u32, shape: f64) -> u32 {
    ((f64::from(long) / shape).round_ties_even() as u32).max(1)
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::select};

    use super::*;

    fn check(native: (u16, u16), resolution: Resolution, expected: (u16, u16)) {
        let native = ScreenSize {
            width: native.0,
            height: native.1,
        };
        let shown = shown(native, resolution, u32::MAX);
        assert_eq!(
            (shown.width, shown.height),
            expected,
            "{native} {resolution:?}"
        );
    }

    #[test]
    fn no_edge_is_longer_than_wanted() {
        let native = ScreenSize {
            width: 2560,
            height: 1600,
        };
        let shown = shown(native, Resolution::Sharp, 2000);
        assert_eq!((shown.width, shown.height), (2000, 1250));
    }

    #[test]
    fn pictures_are_as_big_as_they_may_be() {
        use Resolution::{Sharp, Standard};
        for (native, standard, sharp) in [
            ((1920, 1080), (1456, 819), (1920, 1080)),
            ((3840, 2160), (1456, 819), (2576, 1449)),
            ((2560, 1440), (1456, 819), (2560, 1440)),
            ((2560, 1600), (1389, 868), (2420, 1512)),
            ((1440, 900), (1389, 868), (1440, 900)),
            ((1600, 900), (1456, 819), (1600, 900)),
            ((1512, 982), (1372, 891), (1512, 982)),
            ((1366, 768), (1366, 768), (1366, 768)),
            ((1280, 800), (1280, 800), (1280, 800)),
            ((1280, 720), (1280, 720), (1280, 720)),
            ((1024, 768), (1024, 768), (1024, 768)),
            ((1080, 1920), (819, 1456), (1080, 1920)),
        ] {
            check(native, Standard, standard);
            check(native, Sharp, sharp);
        }
        check((1075, 1520), Standard, (924, 1307));
    }

    proptest! {
        #[test]
        fn a_picture_is_taken_as_it_is_keeps_its_shape_and_could_not_be_larger(
            edges in (1_u16..=8000, 1_u16..=8000),
            resolution in select(vec![Resolution::Standard, Resolution::Sharp]),
            longest in select(vec![2000, u32::MAX]),
        ) {
            let native = ScreenSize { width: edges.0, height: edges.1 };
            let turned = ScreenSize { width: edges.1, height: edges.0 };
            let size = shown(native, resolution, longest);
            let (width, height) = (u32::from(size.width), u32::from(size.height));
            let fits = |long: u32, short: u32| long <= longest && resolution.fits(long, short);
            let (long, short) = (width.max(height), width.min(height));
            prop_assert!(fits(long, short));
            let of_turned = shown(turned, resolution, longest);
            prop_assert_eq!((of_turned.height, of_turned.width), (size.width, size.height));
            if size != native {
                let shape = f64::from(edges.0.max(edges.1)) / f64::from(edges.0.min(edges.1));
                prop_assert_eq!(short, shorter(long, shape));
                prop_assert!(!fits(long + 1, shorter(long + 1, shape)));
            }
        }
    }
}
