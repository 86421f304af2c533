use std::{fs, os::unix::fs::symlink};

use super::*;

fn limits(disk_bytes: u64, disk_files: u64) -> SandboxLimits {
    SandboxLimits {
        disk_bytes,
        disk_files,
        ..SandboxLimits::default()
    }
}

fn no_reserve() -> Reserve {
    Reserve::new(0)
}

#[test]
fn everything_in_a_home_is_counted_once() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("a/b")).unwrap();
    fs::write(dir.path().join("a/b/file"), vec![1; 1 << 20]).unwrap();
    fs::hard_link(dir.path().join("a/b/file"), dir.path().join("again")).unwrap();
    symlink("/", dir.path().join("link")).unwrap();

    let counted = count(dir.path());

    assert!(counted.is_complete);
    assert_eq!(counted.used.files, 5);
    let mib = counted.used.bytes / MIB;
    assert_eq!(mib, 1, "{counted:?}");
}

#[test]
fn folders_that_are_too_deep_to_count_are_not_overlooked() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("d/".repeat(200))).unwrap();
    assert!(!count(dir.path()).is_complete);
}

#[tokio::test]
async fn what_cannot_be_counted_is_taken_to_be_as_large_as_it_can_be() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("d/".repeat(200))).unwrap();
    let watch = DiskWatch::new(dir.path().to_owned(), None, &limits(MIB, 10), no_reserve());
    let bound = Usage {
        bytes: 7 * MIB,
        files: 9,
    };
    let counted = watch.count(bound).await.unwrap();
    assert_eq!(counted.used.bytes, 7 * MIB);
}

#[tokio::test]
async fn a_home_that_grows_past_its_quota_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let watch = DiskWatch::new(dir.path().to_owned(), None, &limits(MIB, 10), no_reserve());
    let most = watch.quota;
    let before = watch.count(Usage::default()).await.unwrap();
    fs::write(dir.path().join("file"), vec![1; 2 << 20]).unwrap();
    // As if the disk had lost that much, whatever else happens on it.
    let last = Counted {
        free: Usage {
            bytes: u64::MAX,
            files: u64::MAX,
        },
        took: Duration::ZERO,
        ..before
    };
    let Look::Passed(reason) = watch.look(last, most).await.unwrap() else {
        panic!("it was not noticed");
    };
    assert_eq!(
        reason,
        "its files take 2 MiB of the disk and may take 1 MiB; remove some when it runs again"
    );
}

#[test]
fn no_sandbox_starts_on_the_reserve() {
    let dir = tempfile::tempdir().unwrap();
    no_reserve().check(dir.path()).unwrap();
    let all = Reserve::new(u64::MAX);
    let error = all.check(dir.path()).unwrap_err().to_string();
    assert!(
        error.starts_with("the server's disk is nearly full ("),
        "{error}"
    );
    assert!(error.contains("kept for the database): free some space"));
}

#[test]
fn a_disk_without_room_for_files_is_full_too() {
    let free = Usage {
        bytes: u64::MAX,
        files: 5,
    };
    let problem = no_reserve().problem(free).unwrap();
    assert!(problem.contains("5 more files fit on it"), "{problem}");
}

#[test]
fn unwritten_bytes_are_not_free() {
    let reserve = Reserve::new(10 * MIB);
    let free = Usage {
        bytes: 15 * MIB,
        files: u64::MAX,
    };
    assert_eq!(reserve.problem(free), None);
    reserve.unwritten.store(6 * MIB, Ordering::Relaxed);
    let problem = reserve.problem(free).unwrap();
    assert!(problem.contains("9 MiB are left"), "{problem}");
}

#[tokio::test]
async fn a_running_sandbox_is_stopped_when_the_reserve_is_touched() {
    let dir = tempfile::tempdir().unwrap();
    let all = Reserve::new(u64::MAX);
    let watch = DiskWatch::new(dir.path().to_owned(), None, &limits(MIB, 10), all);
    let reason = watch.passed().await;
    let begin = "the sandbox was stopped: the server's disk is nearly full (";
    assert!(reason.starts_with(begin), "{reason}");
}
