//! Free space of a file system, given back to the disk below it.

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

/// Gives back all space that is free. `folder` is any folder of the file system.
pub(super) fn trim(folder: impl AsFd) -> io::Result<()> {
    // The space of a removed file is free once the removal is on the disk.
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
