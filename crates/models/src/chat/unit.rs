//! The unit in which open models point at pictures.

use deskhand_core::{action::ScreenSize, model::ModelRequest};

use crate::{settings::Coordinates, space::Space};

/// The unit of a model's points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PointUnit {
    Pixels,
    Thousandths,
}

impl PointUnit {
    /// Returns the unit of a model.
    pub(crate) fn of(name: &str, set: Coordinates) -> Self {
        match set {
            Coordinates::Pixels => Self::Pixels,
            Coordinates::Thousandths => Self::Thousandths,
            Coordinates::ByName if counts_to_a_thousand(name) => Self::Thousandths,
            Coordinates::ByName => Self::Pixels,
        }
    }

    /// Returns the coordinates for pictures of this size.
    pub(super) fn space(self, screen: ScreenSize, shown: ScreenSize) -> Space {
        match self {
            Self::Pixels => Space::picture(screen, shown),
            Self::Thousandths => Space::thousandths(screen),
        }
    }

    /// Returns the coordinates of a request's pictures.
    pub(super) fn space_of(self, request: &ModelRequest) -> Space {
        self.space(request.screen, request.shown)
            .over_page(request.page)
    }
}

/// Returns true if models of this name were trained to point at thousandths, whatever a request says: Qwen from 3-VL on,
/// the GLM models that see, `InternVL`, and Gemini where others serve it.
fn counts_to_a_thousand(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let model = name.rsplit('/').next().unwrap_or_default();
    if model.contains("internvl") || model.starts_with("gemini-") {
        return true;
    }
    if let Some(rest) = model.strip_prefix("glm-") {
        let version =
            rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        return version.len() < rest.len() && version.starts_with('v');
    }
    let Some(rest) = model.strip_prefix("qwen") else {
        return false;
    };
    let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let version: f32 = rest[..end.unwrap_or(rest.len())].parse().unwrap_or(0.0);
    // The first Qwen3 could not see; those that can have it in their names.
    version > 3.0 || (version >= 3.0 && (rest.contains("-vl") || rest.contains("-omni")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_follows_from_the_name_unless_it_is_set() {
        for name in [
            "qwen3-vl",
            "qwen3-vl:235b",
            "qwen/qwen3-vl-235b-a22b-instruct",
            "Qwen/Qwen3.8-35B-A3B",
            "qwen3-omni",
            "z-ai/glm-4.6v",
            "glm-5v-turbo",
            "OpenGVLab/InternVL3_5-38B",
            "google/gemini-3.8-flash",
        ] {
            let unit = PointUnit::of(name, Coordinates::ByName);
            assert_eq!(unit, PointUnit::Thousandths, "{name}");
            let set = PointUnit::of(name, Coordinates::Pixels);
            assert_eq!(set, PointUnit::Pixels, "{name}");
        }
        for name in [
            "qwen3",
            "qwen2.5-vl:72b",
            "qwen2.5vl",
            "glm-4.6",
            "glm-vision",
            "bytedance/ui-tars-1.5-7b",
            "llama-4-maverick",
            "my-qwen3-vl",
        ] {
            let unit = PointUnit::of(name, Coordinates::ByName);
            assert_eq!(unit, PointUnit::Pixels, "{name}");
            let set = PointUnit::of(name, Coordinates::Thousandths);
            assert_eq!(set, PointUnit::Thousandths, "{name}");
        }
    }
}
