//! Settings of the C library's allocator.

/// The number of heaps. The default is eight per core, each of which keeps what was once freed in it.
#[cfg(target_env = "gnu")]
const N_HEAPS: libc::c_int = 2;
/// The size from which memory is returned to the system as soon as it is freed. By default, it grows with the largest
/// buffer that was freed.
#[cfg(target_env = "gnu")]
const RETURNED_FROM_BYTES: libc::c_int = 256 * 1024;

/// Returns freed memory to the system sooner, because a server lives long and some requests need megabytes.
///
/// Call this before the first thread is started.
#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "no library wraps mallopt")]
pub(crate) fn return_early() {
    // SAFETY: Only the allocator's own settings are changed, and no other thread runs yet. A setting that it refuses
    // stays as it was.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, N_HEAPS);
        libc::mallopt(libc::M_MMAP_THRESHOLD, RETURNED_FROM_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, RETURNED_FROM_BYTES);
    }
}

/// Other allocators are left as they are.
#[cfg(not(target_env = "gnu"))]
pub(crate) fn return_early() {}
