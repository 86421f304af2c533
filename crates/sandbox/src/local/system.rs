//! The parts of a system that every sandbox sees: an `/etc` of ours, the browser's start page, and the X server.
//!
//! The host's `/etc` holds host names, users, keys and much else that must stay private. The sandbox gets a few
//! files that we write, copies of some that reveal nothing about the host, and a few whole folders such as the font
//! settings. Each server assembles this once.

use std::{
    fs::{self, File, Permissions},
    io::{self, Read},
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use rustix::fs::{StatVfsMountFlags, statvfs};

use super::find_program;

/// Files with our own content.
const OWN: [(&str, &str); 12] = [
    (
        "passwd",
        "root:x:0:0:root:/root:/usr/sbin/nologin\n\
         agent:x:1000:1000:Agent:/home/agent:/bin/bash\n\
         nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    ),
    ("group", "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n"),
    (
        "nsswitch.conf",
        "passwd: files\ngroup: files\nshadow: files\nhosts: files\nservices: files\n\
         protocols: files\n",
    ),
    (
        "hosts",
        "127.0.0.1 localhost desk\n::1 localhost ip6-localhost\n",
    ),
    // Covered in a sandbox with a network.
    ("resolv.conf", ""),
    ("hostname", "desk\n"),
    // Programs insist on one. It is the same in every sandbox, so that it reveals nothing.
    ("machine-id", "00000000000000000000000000000001\n"),
    ("profile", "umask 022\n"),
    ("bash.bashrc", "PS1='\\u@\\h:\\w\\$ '\n"),
    (
        "chromium/policies/managed/deskhand.json",
        include_str!("system/policy.json"),
    ),
    // Covered in a sandbox whose programs trust another authority.
    ("chromium/policies/managed/authority.json", "{}\n"),
    ("deskhand/authorities.crt", ""),
];

/// Files for name resolution, which replace those of the same names in a sandbox with a network.
const NETWORK: [(&str, &str); 2] = [
    ("resolv.conf", RESOLVERS),
    (
        "nsswitch.conf",
        "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\n\
         protocols: files\n",
    ),
];

/// The address is [`deskhand_runner_protocol::network::RESOLVER_ADDRESS`].
const RESOLVERS: &str = "nameserver 198.18.0.1\n";

/// The folders in which other builds of Chromium look for the policy.
const POLICY_FOLDERS: [&str; 2] = ["chromium-browser", "opt/chrome"];

/// Files of the host that are copied if they exist.
const COPIED: [&str; 10] = [
    "ld.so.cache",
    "ld.so.conf",
    "localtime",
    "timezone",
    "os-release",
    "debian_version",
    "mime.types",
    "services",
    "protocols",
    "inputrc",
];

/// Folders of the host that are shared if they exist.
const FOLDERS: [&str; 8] = [
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/ssl/certs",
    "/etc/X11",
    "/etc/xdg",
    "/etc/gtk-3.0",
    "/etc/terminfo",
    "/etc/ld.so.conf.d",
];

/// The X server's program.
pub(crate) const X_SERVER: &str = "Xvnc";
/// The first bytes of a program in the ELF format.
const ELF: [u8; 4] = *b"\x7fELF";

const PAGE: &str = include_str!("system/start.html");

/// The folder with the files that every sandbox sees.
#[derive(Debug)]
pub(crate) struct System {
    dir: PathBuf,
    etc_folders: Vec<&'static str>,
    /// A copy of the X server's program that can be executed but not read.
    x_server: Option<PathBuf>,
}

impl System {
    /// Assembles the folder `dir/.system`, and replaces that of an earlier server.
    pub(crate) fn assemble(dir: &Path) -> io::Result<Self> {
        let system = dir.join(".system");
        if system.exists() {
            fs::remove_dir_all(&system)?;
        }
        let etc = system.join("etc");
        for (name, content) in OWN {
            write(&etc.join(name), content.as_bytes())?;
        }
        for (name, content) in NETWORK {
            write(&system.join("network").join(name), content.as_bytes())?;
        }
        for folder in POLICY_FOLDERS {
            let folder = etc.join(folder);
            fs::create_dir_all(&folder)?;
            symlink("/etc/chromium/policies", folder.join("policies"))?;
        }
        for name in COPIED {
            // A file that is missing or that we cannot read is not for the sandbox either.
            if let Ok(content) = fs::read(Path::new("/etc").join(name)) {
                write(&etc.join(name), &content)?;
            }
        }
        symlink("/proc/self/mounts", etc.join("mtab"))?;
        let mut etc_folders = Vec::new();
        for folder in FOLDERS
            .into_iter()
            .filter(|folder| Path::new(folder).is_dir())
        {
            let inside = folder.trim_start_matches("/etc/");
            fs::create_dir_all(etc.join(inside))?;
            etc_folders.push(folder);
        }
        write(&system.join("start.html"), PAGE.as_bytes())?;
        fs::create_dir(system.join("empty"))?;
        open_to_all(&system)?;
        let x_server = hidden_x_server(&system).inspect_err(|error| {
            tracing::warn!(%error, "programs in a sandbox can read the memory of its X server");
        });
        Ok(Self {
            dir: system,
            etc_folders,
            x_server: x_server.ok(),
        })
    }

    pub(crate) fn etc(&self) -> PathBuf {
        self.dir.join("etc")
    }

    /// Returns the folders of the host's `/etc` to mount over those of the same name in ours.
    pub(crate) fn etc_folders(&self) -> &[&'static str] {
        &self.etc_folders
    }

    /// Returns the files to mount over those of `/etc` in a sandbox with a network, each with its name.
    pub(crate) fn network_files(&self) -> impl Iterator<Item = (PathBuf, &'static str)> {
        let dir = self.dir.join("network");
        NETWORK.map(|(name, _)| (dir.join(name), name)).into_iter()
    }

    /// Returns a folder without content, to cover others with.
    pub(crate) fn empty(&self) -> PathBuf {
        self.dir.join("empty")
    }

    /// Returns the X server's program that sandboxes run instead of the host's, if there is one.
    pub(crate) fn x_server(&self) -> Option<&Path> {
        self.x_server.as_deref()
    }

    pub(crate) fn start_page(&self) -> PathBuf {
        self.dir.join("start.html")
    }
}

/// Copies the X server's program into `system` as a file that can be executed but not read.
///
/// The kernel hides the memory and the descriptors of a process from other processes of its user if they cannot read
/// its program. Every key that a person types passes through the X server.
fn hidden_x_server(system: &Path) -> io::Result<PathBuf> {
    let program = find_program(X_SERVER.as_ref()).ok_or(io::ErrorKind::NotFound)?;
    let mut start = [0; ELF.len()];
    File::open(&program)?.read_exact(&mut start)?;
    if start != ELF {
        // The interpreter of a script must be able to read it.
        let problem = format!("{} is a script", program.display());
        return Err(io::Error::other(problem));
    }
    if statvfs(system)?.f_flag.contains(StatVfsMountFlags::NOEXEC) {
        let problem = format!("no program can be run in {}", system.display());
        return Err(io::Error::other(problem));
    }
    let copy = system.join(X_SERVER);
    fs::copy(&program, &copy)?;
    fs::set_permissions(&copy, Permissions::from_mode(0o111))?;
    Ok(copy)
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, content)
}

/// Makes everything readable for all users, whatever the server's umask is. It contains no secret.
fn open_to_all(path: &Path) -> io::Result<()> {
    let kind = fs::symlink_metadata(path)?.file_type();
    if kind.is_dir() {
        fs::set_permissions(path, Permissions::from_mode(0o755))?;
        for entry in fs::read_dir(path)? {
            open_to_all(&entry?.path())?;
        }
    } else if kind.is_file() {
        fs::set_permissions(path, Permissions::from_mode(0o644))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use serde_json::{Value, json};

    use super::{super::trust, *};

    #[test]
    fn programs_ask_the_runner_for_names() {
        let resolver = deskhand_runner_protocol::network::RESOLVER_ADDRESS;
        assert_eq!(RESOLVERS, format!("nameserver {resolver}\n"));
    }

    #[test]
    fn the_x_server_can_be_executed_but_not_read() {
        if find_program(X_SERVER.as_ref()).is_none() {
            return deskhand_testkit::not_run("Xvnc is not installed");
        }
        let dir = tempfile::tempdir().unwrap();
        let system = System::assemble(dir.path()).unwrap();
        let mode = fs::metadata(system.x_server().unwrap()).unwrap().mode();
        assert_eq!(mode & 0o7777, 0o111);
        // A later server can replace it.
        System::assemble(dir.path()).unwrap();
    }

    #[test]
    fn the_files_that_name_an_authority_are_there_to_be_covered() {
        let dir = tempfile::tempdir().unwrap();
        System::assemble(dir.path()).unwrap();
        for path in [trust::AUTHORITIES, trust::POLICY] {
            let file = path.trim_start_matches('/');
            assert!(dir.path().join(".system").join(file).is_file(), "{path}");
        }
    }

    #[test]
    fn the_browser_takes_no_extensions_and_asks_nobody_else_for_names_or_trust() {
        let dir = tempfile::tempdir().unwrap();
        System::assemble(dir.path()).unwrap();
        let file = dir
            .path()
            .join(".system/etc/chromium/policies/managed/deskhand.json");
        let policy: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        assert_eq!(policy["ExtensionInstallBlocklist"], json!(["*"]));
        assert_eq!(policy["DnsOverHttpsMode"], "off");
        assert_eq!(policy["QuicAllowed"], false);
        assert_eq!(policy["WebRtcIPHandling"], "disable_non_proxied_udp");
        assert_eq!(policy["CAPlatformIntegrationEnabled"], false);
        assert_eq!(policy["ProxySettings"], json!({"ProxyMode": "system"}));
        let blocked = policy["URLBlocklist"].as_array().unwrap();
        for page in ["chrome://extensions", "chrome://settings", "chrome://flags"] {
            assert!(blocked.contains(&json!(page)), "{page}");
        }
    }
}
