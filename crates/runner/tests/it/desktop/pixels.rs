//! The pixels of a picture.

use deskhand_core::sandbox::Frame;

/// The pixels of a PNG, as rows of red, green and blue.
pub(crate) struct Pixels {
    width: usize,
    rgb: Vec<u8>,
}

impl Pixels {
    pub(crate) fn of(frame: &Frame) -> Self {
        let bytes = std::io::Cursor::new(&frame.bytes);
        let mut reader = png::Decoder::new(bytes).read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut rgb).unwrap();
        assert_eq!(info.color_type, png::ColorType::Rgb);
        assert_eq!(info.width, u32::from(frame.size.width));
        assert_eq!(info.height, u32::from(frame.size.height));
        Self {
            width: usize::from(frame.size.width),
            rgb,
        }
    }

    pub(crate) fn at(&self, x: usize, y: usize) -> [u8; 3] {
        let index = 3 * (y * self.width + x);
        self.rgb[index..index + 3].try_into().unwrap()
    }
}
