//! Translates the kernel's errors into problems, and recognizes the kernel's own file systems.

use std::os::fd::AsFd;

use deskhand_core::file::{FileProblem, FileProblemKind};
use rustix::{fs::fstatfs, io::Errno};

/// The file systems whose files show the kernel, processes or devices: proc, sysfs, cgroup, cgroup2, debugfs, tracefs,
/// securityfs, configfs, bpf, pstore, efivarfs, `binfmt_misc`, devpts, mqueue, nsfs, pipefs, sockfs and anonymous ones.
const OF_THE_KERNEL: &[u64] = &[
    0x9fa0,
    0x6265_6572,
    0x0027_e0eb,
    0x6367_7270,
    0x6462_6720,
    0x7472_6163,
    0x7363_6673,
    0x6265_6570,
    0xcafe_4a11,
    0x6165_676c,
    0xde5e_81e4,
    0x4249_4e4d,
    0x1cd1,
    0x1980_0202,
    0x6e73_6673,
    0x5049_5045,
    0x534f_434b,
    0x0904_1934,
];

/// Refuses a file or folder that belongs to the kernel.
pub(super) fn check_file_system(fd: impl AsFd, path: &str) -> Result<(), FileProblem> {
    let file_system = fstatfs(fd).map_err(|errno| failed(path, errno))?;
    // The type is a number of 32 bits, in a signed word on some machines.
    let magic = i128::from(file_system.f_type) & 0xffff_ffff;
    if OF_THE_KERNEL
        .iter()
        .any(|known| i128::from(*known) == magic)
    {
        return Err(FileProblem::new(
            FileProblemKind::Denied,
            format!(
                "{path} belongs to the kernel, and is not shown or changed here: use a terminal"
            ),
        ));
    }
    Ok(())
}

/// Returns the problem behind an error at this path.
pub(super) fn failed(path: &str, errno: Errno) -> FileProblem {
    use FileProblemKind as Kind;
    let (kind, message) = match errno {
        Errno::NOENT => (Kind::Missing, format!("there is no {path}")),
        Errno::EXIST => (Kind::Exists, format!("{path} is already there")),
        Errno::NOTDIR => (
            Kind::NotAFolder,
            format!("{path}, or a part of it, is not a folder"),
        ),
        Errno::ISDIR => (Kind::Folder, format!("{path} is a folder")),
        Errno::NOTEMPTY => (Kind::NotEmpty, format!("the folder {path} is not empty")),
        Errno::LOOP => (
            Kind::NotAFile,
            format!("{path} is a link: use the path that it leads to"),
        ),
        Errno::ACCESS | Errno::PERM | Errno::ROFS => (
            Kind::Denied,
            format!("the agent's user has no permission for {path}"),
        ),
        Errno::NOSPC | Errno::DQUOT => (Kind::NoSpace, format!("no space is left for {path}")),
        Errno::FBIG | Errno::NAMETOOLONG => {
            (Kind::TooMuch, format!("{path} is too large or too long"))
        }
        Errno::XDEV => (
            Kind::Failed,
            format!("{path} is on another file system: copy it, then delete it"),
        ),
        other => (Kind::Failed, format!("{path}: {other}")),
    };
    FileProblem::new(kind, message)
}

/// Returns the problem behind an error of the standard library.
pub(super) fn failed_io(path: &str, error: &std::io::Error) -> FileProblem {
    match Errno::from_io_error(error) {
        Some(errno) => failed(path, errno),
        None => FileProblem::new(FileProblemKind::Failed, format!("{path}: {error}")),
    }
}
