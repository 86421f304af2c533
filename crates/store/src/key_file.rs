//! The keys that encrypt stored secrets: a file beside the database, not in it.
//!
//! Each line is a key. The last one is the newest: it seals, and all of them open.

use std::{
    fs, io,
    io::Write,
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::Arc,
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use deskhand_core::secret::Secret;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 24;
/// The number of bytes of a key's hash that form its id.
const ID_BYTES: usize = 9;

/// The bits of a mode that let others have the keys: everybody may use them, or the group may replace them. A service's
/// group may read them.
const OTHERS: u32 = 0o027;

/// The path of the key file. The file is read whenever a key is needed, so that a restored file counts at once.
#[derive(Debug, Clone)]
pub struct KeyFile(Arc<Path>);

/// All keys of a file. There is at least one.
#[derive(Debug)]
pub struct Keys {
    older: Vec<Key>,
    newest: Key,
}

/// A key itself. Its memory is wiped when it is dropped.
pub struct Key {
    id: String,
    bytes: Zeroizing<[u8; KEY_BYTES]>,
}

/// The reason why the key is not available.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("the key file {} is missing", .0.display())]
    Missing(PathBuf),
    #[error("{} is not a key file: each line must contain {KEY_BYTES} bytes in base64", .0.display())]
    Malformed(PathBuf),
    #[error(
        "others may read the key file {0} (mode {mode:o}); if nobody has, run `chmod 600 {0}`, and otherwise replace \
         the secrets as well as the key", .path.display()
    )]
    OpenToOthers { path: PathBuf, mode: u32 },
    #[error("could not read or create the key file {}", .path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl KeyFile {
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into().into())
    }

    /// Reads the keys.
    pub async fn read(&self) -> Result<Keys, KeyError> {
        self.blocking(Self::read_now).await
    }

    /// Reads the keys, and creates one if there is none.
    pub async fn read_or_make(&self) -> Result<Keys, KeyError> {
        self.blocking(|file| match file.read_now() {
            Err(KeyError::Missing(_)) => {
                file.make().map_err(|source| file.failed(source))?;
                file.read_now()
            }
            read => read,
        })
        .await
    }

    /// Adds a new key, which seals from now on. Returns all keys.
    pub async fn rotate(&self) -> Result<Keys, KeyError> {
        self.blocking(|file| {
            // A file that cannot be read must not be replaced by a readable one.
            file.read_now()?;
            file.add().map_err(|source| file.failed(source))?;
            file.read_now()
        })
        .await
    }

    async fn blocking(
        &self,
        work: impl FnOnce(&Self) -> Result<Keys, KeyError> + Send + 'static,
    ) -> Result<Keys, KeyError> {
        let file = self.clone();
        let worked = tokio::task::spawn_blocking(move || work(&file)).await;
        worked.map_err(|error| self.failed(io::Error::other(error)))?
    }

    fn read_now(&self) -> Result<Keys, KeyError> {
        let text = match fs::read_to_string(&self.0) {
            Ok(text) => Zeroizing::new(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(KeyError::Missing(self.0.to_path_buf()));
            }
            Err(error) => return Err(self.failed(error)),
        };
        let metadata = fs::metadata(&self.0).map_err(|error| self.failed(error))?;
        let mode = metadata.mode() & 0o777;
        if mode & OTHERS != 0 {
            let path = self.0.to_path_buf();
            return Err(KeyError::OpenToOthers { path, mode });
        }
        let malformed = || KeyError::Malformed(self.0.to_path_buf());
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let keys: Option<Vec<Key>> = lines.map(Key::parse).collect();
        let mut older = keys.ok_or_else(malformed)?;
        let newest = older.pop().ok_or_else(malformed)?;
        Ok(Keys { older, newest })
    }

    /// Writes the file again with one more key. It is replaced in one step.
    fn add(&self) -> io::Result<()> {
        let mut text = Zeroizing::new(fs::read_to_string(&self.0)?);
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&new_line());
        let draft = self.write_draft(&text)?;
        let renamed = fs::rename(&draft, &self.0);
        if renamed.is_err() {
            fs::remove_file(&draft)?;
        }
        renamed
    }

    /// Writes a new key, readable by its owner only. If another process wrote one first, that one stays.
    fn make(&self) -> io::Result<()> {
        let draft = self.write_draft(&new_line())?;
        let linked = match fs::hard_link(&draft, &self.0) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        };
        fs::remove_file(&draft)?;
        linked
    }

    /// Writes a file beside the key file, readable by its owner only.
    fn write_draft(&self, text: &str) -> io::Result<PathBuf> {
        let mut draft = self.0.as_os_str().to_owned();
        draft.push(format!(".{}", uuid::Uuid::now_v7().simple()));
        let mut file = fs::OpenOptions::new()
            .create_new(true)
            .write(true)
            .mode(0o600)
            .open(&draft)?;
        let written = file
            .write_all(text.as_bytes())
            .and_then(|()| file.sync_all());
        if let Err(error) = written {
            fs::remove_file(&draft)?;
            return Err(error);
        }
        Ok(draft.into())
    }

    fn failed(&self, source: io::Error) -> KeyError {
        KeyError::Io {
            path: self.0.to_path_buf(),
            source,
        }
    }
}

/// Returns the line of a new key.
fn new_line() -> Zeroizing<String> {
    let bytes = Zeroizing::new(rand::random::<[u8; KEY_BYTES]>());
    let mut line = Zeroizing::new(URL_SAFE_NO_PAD.encode(bytes.as_slice()));
    line.push('\n');
    line
}

impl Keys {
    /// Returns the key that seals.
    pub fn newest(&self) -> &Key {
        &self.newest
    }

    /// Returns the key with this id.
    pub fn find(&self, id: &str) -> Option<&Key> {
        let mut keys = self.older.iter().chain([&self.newest]);
        keys.find(|key| key.id() == id)
    }

    pub fn n_older(&self) -> usize {
        self.older.len()
    }
}

impl Key {
    fn parse(line: &str) -> Option<Self> {
        let bytes = Zeroizing::new(URL_SAFE_NO_PAD.decode(line).ok()?);
        let bytes = Zeroizing::new(<[u8; KEY_BYTES]>::try_from(&bytes[..]).ok()?);
        let hash = Sha256::digest(bytes.as_slice());
        Some(Self {
            id: URL_SAFE_NO_PAD.encode(&hash[..ID_BYTES]),
            bytes,
        })
    }

    /// Returns the key's id, which tells it apart from other keys and reveals nothing else about it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Encrypts a value so that it can only be decrypted together with the same `about`. Returns `None` if the cipher
    /// refuses, which it does only for values of many gigabytes.
    pub fn seal(&self, value: &Secret, about: &[u8]) -> Option<Vec<u8>> {
        let nonce = rand::random::<[u8; NONCE_BYTES]>();
        let payload = Payload {
            msg: value.expose().as_bytes(),
            aad: about,
        };
        let sealed = self.cipher().encrypt(&XNonce::from(nonce), payload).ok()?;
        Some([&nonce[..], &sealed].concat())
    }

    /// Decrypts a value. Returns `None` unless it was sealed with this key and the same `about`.
    pub fn open(&self, sealed: &[u8], about: &[u8]) -> Option<Secret> {
        let (nonce, rest) = sealed.split_first_chunk::<NONCE_BYTES>()?;
        let payload = Payload {
            msg: rest,
            aad: about,
        };
        let value = self.cipher().decrypt(&XNonce::from(*nonce), payload).ok()?;
        String::from_utf8(value).ok().map(Secret::new)
    }

    /// Derives a key for another purpose. It reveals nothing about this key.
    pub fn derive(&self, purpose: &[u8]) -> [u8; KEY_BYTES] {
        // HMAC pads a key with zeros to the length of a block.
        let mut block = Zeroizing::new([0; 64]);
        block[..KEY_BYTES].copy_from_slice(&*self.bytes);
        let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new((&*block).into());
        mac.update(purpose);
        mac.finalize().into_bytes().into()
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new((&*self.bytes).into())
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
