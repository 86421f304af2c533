//! Returns the free space of a file system to the underlying disk.

use std::{io, os::fd::AsFd};

use rustix::{
    fs::syncfs,
    ioctl::{Opcode, Updater, ioctl},
};

const TRIM: Opcode = 0xc018_5879;

/// `struct fstrim_range` of linux/fs.h.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Range {
    start: u64,
    n_bytes: u64,
    least_bytes: u64,
}

/// Discards all free space. `folder` is any folder of the file system.
pub(super) fn trim(folder: impl AsFd) -> io::Result<()> {
    // The space of a removed file becomes free only after the removal is written to the disk.
    syncfs(&folder)?;
    let mut everything = Range {
        start: 0,
        n_bytes: u64::MAX,
        least_bytes: 0,
    };
    #[expect(unsafe_code, reason = "rustix marks all of ioctl as unsafe")]
    // SAFETY: the request reads and writes the structure that linux/fs.h gives for it.
    unsafe {
        ioctl(folder, Updater::<TRIM, Range>::new(&mut everything))?;
    }
    Ok(())
}
