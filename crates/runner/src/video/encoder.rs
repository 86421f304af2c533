//! Encodes pictures as H.264 with three layers in time.

use std::time::Duration;

use bytes::Bytes;
use deskhand_core::{
    action::{Region, ScreenSize},
    video::{LONGEST_PICTURE_BYTES, VIDEO_LAYERS, VideoFrame},
};
use deskhand_pictures::{Picture, PictureError};
use openh264::{
    OpenH264API, Timestamp,
    encoder::{
        BitRate, ColorPrimaries, Complexity, Encoder, EncoderConfig, FrameRate, FrameType,
        MatrixCoefficients, QpRange, RateControlMode, TransferCharacteristics, UsageType,
        VuiConfig,
    },
    formats::{BgraSliceU8, YUVBuffer},
};
use openh264_sys2::{
    ENCODER_OPTION_BITRATE, ENCODER_OPTION_SVC_ENCODE_PARAM_EXT, SBitrateInfo, SEncParamExt,
    SPATIAL_LAYER_ALL,
};

use super::VideoError;

/// The most frames in a second.
pub(super) const FRAMES_PER_SECOND: u32 = 30;
/// The time between two frames.
pub(super) const FRAME_TIME: Duration = Duration::from_nanos(1_000_000_000 / 30);
/// The bits in a second for each pixel. At 1280×720 they are four million.
const BITS_PER_PIXEL: f32 = 4.35;
/// The quantizers of the best and the worst picture, on the encoder's scale from 0 to 51. Beyond the worst, frames are
/// dropped.
const COARSENESS: QpRange = QpRange::new(12, 42);

/// Encodes the pictures of one capture.
pub(super) struct VideoEncoder {
    encoder: Encoder,
    size: ScreenSize,
    pixels: YUVBuffer,
    number: u32,
    began_at_us: Option<u64>,
    needs_key: bool,
    quality: u8,
}

impl std::fmt::Debug for VideoEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VideoEncoder")
            .field("size", &self.size)
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl VideoEncoder {
    /// Prepares to encode pictures of this size. A last odd row or column is left out.
    pub(super) fn new(screen: ScreenSize) -> Result<Self, openh264::Error> {
        let size = ScreenSize {
            width: (screen.width & !1).max(2),
            height: (screen.height & !1).max(2),
        };
        let pixels = YUVBuffer::new(size.width.into(), size.height.into());
        let mut encoder = Encoder::with_api_config(OpenH264API::from_source(), config(size))?;
        // The encoder takes its settings from the first picture, which nobody sees.
        encoder.encode(&pixels)?;
        set_layers(&mut encoder)?;
        Ok(Self {
            encoder,
            size,
            pixels,
            number: 0,
            began_at_us: None,
            needs_key: true,
            quality: 0,
        })
    }

    /// Has the next frame be a key frame.
    pub(super) fn want_key(&mut self) {
        self.needs_key = true;
    }

    /// Has all further frames be of this quality, as [`deskhand_core::video::VideoWish`] counts it.
    pub(super) fn set_quality(&mut self, quality: u8) -> Result<(), openh264::Error> {
        if quality != self.quality {
            set_rate(&mut self.encoder, bits_per_second(self.size) >> quality)?;
            self.quality = quality;
        }
        Ok(())
    }

    /// Encodes a picture. Returns `None` if there is nothing to send.
    pub(super) fn encode(
        &mut self,
        picture: Picture,
        captured_at_us: u64,
    ) -> Result<Option<VideoFrame>, VideoError> {
        let picture = self.even(picture)?;
        let size = (self.size.width.into(), self.size.height.into());
        self.pixels
            .read_bgra8(BgraSliceU8::new(&picture.bgrx, size));
        if self.needs_key {
            self.encoder.force_intra_frame();
        }
        let began_at_us = *self.began_at_us.get_or_insert(captured_at_us);
        let at = Timestamp::from_millis(captured_at_us.saturating_sub(began_at_us) / 1000);
        let encoded = self.encoder.encode_at(&self.pixels, at)?;
        let kind = encoded.frame_type();
        let layers = (0..encoded.num_layers()).filter_map(|n| encoded.layer(n));
        let layers = layers.filter(openh264::encoder::Layer::is_video);
        let layer = layers.map(|layer| layer.raw_info().uiTemporalId).max();
        let picture = Bytes::from(encoded.to_vec());
        let (Some(layer), false) = (layer, matches!(kind, FrameType::Skip | FrameType::Invalid))
        else {
            return Ok(None);
        };
        if picture.len() > LONGEST_PICTURE_BYTES {
            // Later frames would need it.
            self.needs_key = true;
            return Ok(None);
        }
        let is_key = kind == FrameType::IDR;
        self.needs_key &= !is_key;
        let number = self.number;
        self.number = number.wrapping_add(1);
        Ok(Some(VideoFrame {
            number,
            captured_at_us,
            is_key,
            layer: layer.min(VIDEO_LAYERS - 1),
            size: self.size,
            picture,
        }))
    }

    /// Leaves out a last odd row or column, since colours are stored for squares of four pixels.
    fn even(&self, picture: Picture) -> Result<Picture, PictureError> {
        if picture.size == self.size {
            return Ok(picture);
        }
        let region = Region {
            x0: 0,
            y0: 0,
            x1: self.size.width.into(),
            y1: self.size.height.into(),
        };
        picture.zoom(region, self.size)
    }
}

/// Returns the rate of the best quality.
fn bits_per_second(size: ScreenSize) -> u32 {
    let n_pixels = u32::from(size.width) * u32::from(size.height);
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate need not be exact"
    )]
    let bits = (n_pixels as f32 * BITS_PER_PIXEL) as u32;
    bits
}

fn config(size: ScreenSize) -> EncoderConfig {
    // The crate's conversion of colours is that of standard television, also at this size.
    let colours = VuiConfig::new()
        .color_primaries(ColorPrimaries::Bt709)
        .transfer_characteristics(TransferCharacteristics::Srgb)
        .matrix_coefficients(MatrixCoefficients::Smpte170M)
        .full_range(false);
    #[expect(clippy::cast_precision_loss, reason = "it is a small number")]
    let rate = FrameRate::from_hz(FRAMES_PER_SECOND as f32);
    EncoderConfig::new()
        .usage_type(UsageType::CameraVideoRealTime)
        .complexity(Complexity::Low)
        .bitrate(BitRate::from_bps(bits_per_second(size)))
        .max_frame_rate(rate)
        .rate_control_mode(RateControlMode::Bitrate)
        // Without it, no rate is kept at all.
        .skip_frames(true)
        .qp(COARSENESS)
        .scene_change_detect(false)
        .adaptive_quantization(false)
        .num_threads(1)
        .vui(colours)
}

/// Has the encoder make frames in three layers. The crate has no setting for it.
fn set_layers(encoder: &mut Encoder) -> Result<(), openh264::Error> {
    let mut settings = SEncParamExt::default();
    #[expect(unsafe_code, reason = "the crate marks its raw interface as unsafe")]
    // SAFETY: the encoder is initialized, since it has encoded a picture. It copies the settings from and to a value of
    // just the type that belongs to this option.
    let (got, set) = unsafe {
        let raw = encoder.raw_api();
        let option = ENCODER_OPTION_SVC_ENCODE_PARAM_EXT;
        let got = raw.get_option(option, (&raw mut settings).cast());
        settings.iTemporalLayerNum = VIDEO_LAYERS.into();
        // As many reference pictures as the layers need.
        settings.iNumRefFrame = -1;
        (got, raw.set_option(option, (&raw mut settings).cast()))
    };
    if got == 0 && set == 0 {
        Ok(())
    } else {
        Err(openh264::Error::msg("the encoder refused its layers"))
    }
}

/// Changes the rate of a running encoder. The crate has no setting for it.
fn set_rate(encoder: &mut Encoder, bits_per_second: u32) -> Result<(), openh264::Error> {
    let mut rate = SBitrateInfo {
        iLayer: SPATIAL_LAYER_ALL,
        iBitrate: i32::try_from(bits_per_second).unwrap_or(i32::MAX),
    };
    #[expect(unsafe_code, reason = "the crate marks its raw interface as unsafe")]
    // SAFETY: the encoder is initialized, since it has encoded a picture. It copies the rate from a value of just the
    // type that belongs to this option.
    let set = unsafe {
        let option = ENCODER_OPTION_BITRATE;
        encoder.raw_api().set_option(option, (&raw mut rate).cast())
    };
    if set == 0 {
        Ok(())
    } else {
        Err(openh264::Error::msg("the encoder refused its rate"))
    }
}

#[cfg(test)]
mod tests {
    use deskhand_core::video::VIDEO_QUALITIES;

    use super::*;

    const SIZE: ScreenSize = ScreenSize {
        width: 320,
        height: 180,
    };

    /// A picture with much detail, which moves.
    fn picture(number: usize) -> Picture {
        let n_pixels = usize::from(SIZE.width) * usize::from(SIZE.height);
        let grey = |at: usize| (((at + 3 * number) * 2_654_435_761) >> 13).to_le_bytes()[0];
        let bgrx = (0..n_pixels).flat_map(|at| [grey(at), grey(at), grey(at), 0]);
        Picture {
            size: SIZE,
            bgrx: bgrx.collect(),
        }
    }

    /// Encodes four seconds, and returns the bytes of the last three.
    fn n_bytes(quality: u8) -> usize {
        let mut encoder = VideoEncoder::new(SIZE).unwrap();
        encoder.set_quality(quality).unwrap();
        let frames = (0..120).map(|number| {
            let at_us = u64::try_from(number).unwrap() * 33_333;
            let frame = encoder.encode(picture(number), at_us).unwrap();
            frame.map_or(0, |frame| frame.picture.len())
        });
        frames.skip(30).sum()
    }

    #[test]
    fn each_quality_has_fewer_bits_than_the_one_before() {
        let sizes: Vec<_> = (0..VIDEO_QUALITIES).map(n_bytes).collect();
        for pair in sizes.windows(2) {
            assert!(pair[1] * 4 < pair[0] * 3, "{sizes:?}");
        }
    }
}
