//! Takes pictures of the screen through memory shared with the X server.

use std::os::fd::OwnedFd;

use deskhand_core::action::ScreenSize;
use deskhand_pictures::{Picture, Pointer};
use rustix::{
    buffer::spare_capacity,
    fs::{MemfdFlags, ftruncate, memfd_create},
    io::{dup, pread},
};
use x11rb::{
    connection::Connection,
    protocol::{
        shm::{ConnectionExt as _, Seg},
        xfixes::ConnectionExt as _,
        xproto::{ImageFormat, ImageOrder},
    },
    rust_connection::RustConnection,
};

use super::x::XError;

const ALL_PLANES: u32 = !0;

/// Memory into which the X server copies the screen.
///
/// The memory is read like a file and not mapped. The copy costs a few tenths of a millisecond, and in return
/// nothing else can change the bytes while we use them. The memory belongs to its two descriptors, so nothing is
/// left over however either side ends.
#[derive(Debug)]
pub(super) struct Camera {
    memory: OwnedFd,
    segment: Seg,
    root: u32,
    size: ScreenSize,
}

impl Camera {
    pub(super) fn new(connection: &RustConnection, root: u32) -> Result<Self, XError> {
        let setup = connection.setup();
        let screen = setup
            .roots
            .iter()
            .find(|screen| screen.root == root)
            .ok_or(XError::Unfit("its screen is gone"))?;
        let four_bytes = setup
            .pixmap_formats
            .iter()
            .any(|format| format.depth == screen.root_depth && format.bits_per_pixel == 32);
        if screen.root_depth != 24 || !four_bytes || setup.image_byte_order != ImageOrder::LSB_FIRST
        {
            return Err(XError::Unfit("its pixels are not 24 bits in four bytes"));
        }
        let size = ScreenSize {
            width: screen.width_in_pixels,
            height: screen.height_in_pixels,
        };
        // Descriptors can be passed since version 1.2.
        let version = connection.shm_query_version()?.reply()?;
        if (version.major_version, version.minor_version) < (1, 2) {
            return Err(XError::Unfit("its shared memory extension is too old"));
        }
        connection.xfixes_query_version(5, 0)?.reply()?;

        let memory = memfd_create("deskhand-screen", MemfdFlags::CLOEXEC).map_err(no_memory)?;
        ftruncate(&memory, u64::try_from(n_bytes(size)).unwrap_or(u64::MAX)).map_err(no_memory)?;
        let segment = connection.generate_id()?;
        let shared = dup(&memory).map_err(no_memory)?;
        connection.shm_attach_fd(segment, shared, false)?.check()?;
        Ok(Self {
            memory,
            segment,
            root,
            size,
        })
    }

    pub(super) fn size(&self) -> ScreenSize {
        self.size
    }

    /// Returns the screen and the pointer as they are now. The pointer is not drawn into the picture.
    pub(super) fn take(&self, connection: &RustConnection) -> Result<(Picture, Pointer), XError> {
        let ScreenSize { width, height } = self.size;
        let image = connection.shm_get_image(
            self.root,
            0,
            0,
            width,
            height,
            ALL_PLANES,
            ImageFormat::Z_PIXMAP.into(),
            self.segment,
            0,
        )?;
        let cursor = connection.xfixes_get_cursor_image()?;
        image.reply()?;
        let cursor = cursor.reply()?;

        let bgrx = self.read().map_err(no_memory)?;
        let picture = Picture {
            size: self.size,
            bgrx,
        };
        let pointer = Pointer {
            x: cursor.x.into(),
            y: cursor.y.into(),
            hot_x: cursor.xhot.into(),
            hot_y: cursor.yhot.into(),
            width: cursor.width.into(),
            argb: cursor.cursor_image,
        };
        Ok((picture, pointer))
    }

    fn read(&self) -> rustix::io::Result<Vec<u8>> {
        let n_bytes = n_bytes(self.size);
        let mut bytes = Vec::with_capacity(n_bytes);
        while bytes.len() < n_bytes {
            let from = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            if pread(&self.memory, spare_capacity(&mut bytes), from)? == 0 {
                return Err(rustix::io::Errno::IO);
            }
        }
        bytes.truncate(n_bytes);
        Ok(bytes)
    }
}

fn n_bytes(size: ScreenSize) -> usize {
    4 * usize::from(size.width) * usize::from(size.height)
}

fn no_memory(error: rustix::io::Errno) -> XError {
    XError::Memory(error.into())
}
