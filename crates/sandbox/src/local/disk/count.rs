//! Counts the files of a home while untrusted programs may change it.
//!
//! Only folders are opened, and no link is followed. Depth is bounded, and so are descriptors and stack.

use std::{
    ffi::CStr,
    os::fd::{AsFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, open, openat, statat},
    io::{self, Errno},
};

use super::Usage;

/// The deepest folder that is looked into.
const DEEPEST: usize = 128;
/// The size of the blocks that the kernel counts in, whatever those of the file system are.
const BLOCK_BYTES: u64 = 512;

/// A count of files.
#[derive(Debug)]
pub(super) struct HomeCount {
    pub(super) used: Usage,
    /// False if a folder was too deep, closed even to its owner, or changed too quickly.
    pub(super) is_complete: bool,
}

/// Counts everything in a home.
pub(super) fn count(home: &Path) -> HomeCount {
    let mut total = HomeCount {
        used: Usage::default(),
        is_complete: true,
    };
    let counted = open(home, folder_flags(), Mode::empty())
        .and_then(|folder| total.add_folder(&folder, DEEPEST));
    total.is_complete &= counted.is_ok();
    total
}

impl HomeCount {
    fn add_folder(&mut self, folder: &OwnedFd, levels_left: usize) -> io::Result<()> {
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let counted = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
                .and_then(|found| self.add(folder, name, &found, levels_left));
            match counted {
                // It was removed or replaced meanwhile.
                Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                Err(_) => self.is_complete = false,
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        parent: impl AsFd,
        name: &CStr,
        found: &Stat,
        levels_left: usize,
    ) -> io::Result<()> {
        let is_folder = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
        let bytes = u64::try_from(found.st_blocks).unwrap_or(0) * BLOCK_BYTES;
        // A file with several names is met as many times.
        self.used.bytes += if is_folder {
            bytes
        } else {
            bytes / n_names(found)
        };
        self.used.files += 1;
        match levels_left.checked_sub(1) {
            _ if !is_folder => Ok(()),
            Some(levels_left) => {
                let folder = openat(parent, name, folder_flags(), Mode::empty())?;
                self.add_folder(&folder, levels_left)
            }
            None => {
                self.is_complete = false;
                Ok(())
            }
        }
    }
}

#[cfg_attr(
    target_arch = "x86_64",
    expect(
        clippy::useless_conversion,
        reason = "other processors have a smaller type"
    )
)]
fn n_names(found: &Stat) -> u64 {
    u64::from(found.st_nlink).max(1)
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}
