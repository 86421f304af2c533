//! Loop devices: files that are used as disks.

use std::{
    ffi::{c_int, c_void},
    io,
    os::fd::{AsFd, AsRawFd, OwnedFd},
};

use rustix::{
    fs::{Mode, OFlags, open},
    io::Errno,
    ioctl::{Ioctl, IoctlOutput, Opcode, Setter, ioctl},
};

const CONFIGURE: Opcode = 0x4c0a;
const FIND_FREE: Opcode = 0x4c82;
/// Releases the device when it is no longer in use.
const AUTOCLEAR: u32 = 4;
/// The number of attempts. Other processes may take a free device first.
const ATTEMPTS: usize = 32;

/// A file that is used as a disk. After it is dropped, the device lives as long as its mounts.
#[derive(Debug)]
pub(super) struct LoopDevice {
    _device: OwnedFd,
    path: String,
}

impl LoopDevice {
    /// Finds a free device and attaches the file, which must be open for writing.
    pub(super) fn attach(file: impl AsFd) -> io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let control = open("/dev/loop-control", flags, Mode::empty());
        let control = control.map_err(|error| told("/dev/loop-control", error))?;
        let config = LoopConfig {
            file: file.as_fd().as_raw_fd().cast_unsigned(),
            info: LoopInfo {
                flags: AUTOCLEAR,
                ..LoopInfo::default()
            },
            ..LoopConfig::default()
        };
        for _ in 0..ATTEMPTS {
            #[expect(unsafe_code, reason = "rustix marks all of ioctl as unsafe")]
            // SAFETY: the request takes no argument and returns a number.
            let number = unsafe { ioctl(&control, FindFree) }?;
            let path = format!("/dev/loop{number}");
            let device = open(path.as_str(), flags, Mode::empty());
            let device = device.map_err(|error| told(&path, error))?;
            #[expect(unsafe_code, reason = "rustix marks all of ioctl as unsafe")]
            // SAFETY: the request reads the structure that linux/loop.h gives for it.
            let configured =
                unsafe { ioctl(&device, Setter::<CONFIGURE, LoopConfig>::new(config)) };
            match configured {
                // Another process took it first.
                Err(Errno::BUSY) => {}
                Err(error) => return Err(told(&path, error)),
                Ok(()) => {
                    return Ok(Self {
                        _device: device,
                        path,
                    });
                }
            }
        }
        Err(told("/dev/loop-control", Errno::BUSY))
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }
}

/// Adds the path of the device to an error.
fn told(path: &str, error: Errno) -> io::Error {
    io::Error::new(error.kind(), format!("{path}: {error}"))
}

/// `struct loop_config` of linux/loop.h.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct LoopConfig {
    file: u32,
    block_bytes: u32,
    info: LoopInfo,
    reserved: [u64; 8],
}

/// `struct loop_info64` of linux/loop.h.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct LoopInfo {
    device: u64,
    inode: u64,
    real_device: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encryption: [u32; 2],
    flags: u32,
    names: [[u64; 8]; 2],
    key: [u64; 4],
    init: [u64; 2],
}

/// Requests the number of a free device.
struct FindFree;

#[expect(unsafe_code, reason = "rustix marks all of ioctl as unsafe")]
// SAFETY: the request takes no argument, and its result is the answer.
unsafe impl Ioctl for FindFree {
    type Output = c_int;
    const IS_MUTATING: bool = false;

    fn opcode(&self) -> Opcode {
        FIND_FREE
    }

    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::null_mut()
    }

    unsafe fn output_from_ptr(
        answer: IoctlOutput,
        _argument: *mut c_void,
    ) -> rustix::io::Result<c_int> {
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_sizes_of_the_kernel() {
        assert_eq!(size_of::<LoopInfo>(), 232);
        assert_eq!(size_of::<LoopConfig>(), 304);
    }
}
