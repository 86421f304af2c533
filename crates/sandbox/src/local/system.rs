//! The parts of a system that every sandbox sees: an `/etc` of ours, and the browser's start page.
//!
//! The host's `/etc` holds host names, users, keys and much else that must stay private. The sandbox gets a few
//! files that we write, copies of some that reveal nothing about the host, and a few whole folders such as the font
//! settings. Each server assembles this once.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use super::{files::make_passage, identity::Identity};

/// Files with our own content.
const OWN: [(&str, &str); 9] = [
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
    ("hostname", "desk\n"),
    // Programs insist on one. It is the same in every sandbox, so that it reveals nothing.
    ("machine-id", "00000000000000000000000000000001\n"),
    ("profile", "umask 022\n"),
    ("bash.bashrc", "PS1='\\u@\\h:\\w\\$ '\n"),
    (
        "chromium/policies/managed/deskhand.json",
        include_str!("system/policy.json"),
    ),
];

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

const PAGE: &str = include_str!("system/start.html");

/// The folder with the files that every sandbox sees.
#[derive(Debug)]
pub(crate) struct System {
    dir: PathBuf,
    etc_folders: Vec<&'static str>,
}

impl System {
    /// Assembles the folder `dir/.system`, and replaces that of an earlier server.
    pub(crate) fn assemble(dir: &Path, identity: Identity) -> io::Result<Self> {
        make_passage(dir, identity)?;
        let system = dir.join(".system");
        if system.exists() {
            fs::remove_dir_all(&system)?;
        }
        let etc = system.join("etc");
        for (name, content) in OWN {
            write(&etc.join(name), content.as_bytes())?;
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
        Ok(Self {
            dir: system,
            etc_folders,
        })
    }

    /// Returns the same folder, as seen by programs for which `dir` is somewhere else.
    pub(crate) fn seen_in(self, dir: &Path) -> Self {
        Self {
            dir: dir.join(".system"),
            ..self
        }
    }

    pub(crate) fn etc(&self) -> PathBuf {
        self.dir.join("etc")
    }

    /// Returns the folders of the host's `/etc` to mount over those of the same name in ours.
    pub(crate) fn etc_folders(&self) -> &[&'static str] {
        &self.etc_folders
    }

    /// Returns a folder without content, to cover others with.
    pub(crate) fn empty(&self) -> PathBuf {
        self.dir.join("empty")
    }

    pub(crate) fn start_page(&self) -> PathBuf {
        self.dir.join("start.html")
    }
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
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_browser_takes_no_extensions_and_asks_no_one_else_for_names() {
        let dir = tempfile::tempdir().unwrap();
        System::assemble(dir.path(), Identity::Same).unwrap();
        let file = dir
            .path()
            .join(".system/etc/chromium/policies/managed/deskhand.json");
        let policy: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        assert_eq!(policy["ExtensionInstallBlocklist"], json!(["*"]));
        assert_eq!(policy["DnsOverHttpsMode"], "off");
        assert_eq!(policy["WebRtcIPHandling"], "disable_non_proxied_udp");
        let blocked = policy["URLBlocklist"].as_array().unwrap();
        assert!(blocked.contains(&json!("chrome://extensions")));
    }
}
