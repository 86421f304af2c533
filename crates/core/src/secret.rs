//! Text that must never be printed.

use zeroize::Zeroize;

/// A token, key or password. `Debug` prints stars; [`Secret::expose`] marks each use. Its memory is wiped when it is
/// dropped.
#[derive(Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text itself. Each caller is a place where it could leak.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(***)")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use std::{fs::File, os::unix::fs::FileExt};

    use super::*;

    /// The bytes of freed memory that the allocator uses itself.
    const ALLOCATORS_BYTES: usize = 16;

    #[test]
    fn the_memory_of_a_secret_is_wiped_when_it_is_dropped() {
        let memory = File::open("/proc/self/mem").unwrap();
        let read = |address: usize| {
            let mut bytes = [0; 64];
            let at = u64::try_from(address).unwrap();
            memory.read_exact_at(&mut bytes, at).unwrap();
            bytes
        };
        let secret = Secret::new("x".repeat(64));
        let address = secret.expose().as_ptr().addr();
        assert_eq!(read(address), [b'x'; 64]);
        drop(secret);
        let left = read(address);
        assert!(
            !left[ALLOCATORS_BYTES..].contains(&b'x'),
            "the value is still in memory"
        );
    }
}
