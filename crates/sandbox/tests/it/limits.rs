//! Limits, where the machine can enforce them.

use std::time::Instant;

use deskhand_core::{
    id::SessionId,
    sandbox::{CheckState, DoctorCheck, Lifecycle, SandboxEnd, SandboxLimits, SandboxSpec},
    shell::ShellEnding,
};
use deskhand_testkit::not_run;

use crate::support::{World, groups_of, run, said, spec};

const MIB: u64 = 1024 * 1024;

#[tokio::test]
async fn limits_hold_where_doctor_says_so() {
    let world = World::with(|config| {
        config.limits = SandboxLimits {
            memory_bytes: 256 * MIB,
            cpus: 0.5,
            processes: 60,
            file_size_bytes: MIB,
            ..SandboxLimits::default()
        };
    });
    let checks = world.sandboxes.doctor().await;
    let is_in_force = |name: &str| {
        let check = checks.iter().find(|check| check.name == name).unwrap();
        println!("{name}: {}", check.detail);
        check.state == CheckState::Ok
    };
    let session = SessionId::new();
    let sandbox = world.start(session).await;
    let sandbox = &*sandbox;

    assert!(is_in_force("file size limit"));
    let too_long = run(sandbox, "head -c 2M /dev/zero > ~/long; stat -c %s ~/long")
        .await
        .unwrap();
    assert!(
        too_long.output.ends_with("1048576\n"),
        "{}",
        too_long.output
    );

    assert!(is_in_force("process limit"));
    let many = "for i in $(seq 100); do sleep 3 & done 2>/dev/null; jobs -r | wc -l";
    let n_jobs = run(sandbox, many).await.unwrap().output;
    let n_jobs = n_jobs
        .lines()
        .last()
        .and_then(|line| line.trim().parse::<u32>().ok());
    // When bash cannot start another process it gives up, so there may be no number at all.
    assert!(n_jobs.is_none_or(|n_jobs| n_jobs < 60), "{n_jobs:?}");
    run(sandbox, "pkill -9 sleep; sleep 0").await.unwrap();

    if is_in_force("memory limit") {
        assert!(!groups_of(session).is_empty());
        let hungry = run(sandbox, "head -c 1G /dev/zero | tail").await.unwrap();
        assert_eq!(
            hungry.ending,
            ShellEnding::Exited { code: 137 },
            "{}",
            hungry.output
        );
        assert_eq!(said(sandbox, "echo still here").await, "still here");
    } else {
        not_run("this machine cannot limit the memory of a sandbox");
    }
    if is_in_force("processor limit") {
        let begin = Instant::now();
        // At half a processor, a second of processor time takes two seconds.
        run(sandbox, "ulimit -t 1; while :; do :; done")
            .await
            .unwrap();
        let took = begin.elapsed().as_secs_f32();
        assert!(took > 1.7, "{took} s");
    } else {
        not_run("this machine cannot limit the processors of a sandbox");
    }
    world.end().await;
}

#[tokio::test]
async fn a_sandbox_that_must_have_limits_starts_only_with_them() {
    let world = World::new();
    let checks = world.sandboxes.doctor().await;
    let is_missing = |check: &DoctorCheck| {
        let is_one = ["memory limit", "processor limit"].contains(&check.name);
        is_one && check.state != CheckState::Ok
    };
    let spec = SandboxSpec {
        must_be_limited: true,
        ..spec(SessionId::new())
    };
    let started = world.sandboxes.start(spec).await;
    if checks.iter().any(is_missing) {
        let error = started.unwrap_err().to_string();
        assert!(
            error.starts_with("this machine cannot limit the memory and the processors"),
            "{error}"
        );
        assert!(error.contains("sandbox.require_limits"), "{error}");
    } else {
        assert_eq!(said(&*started.unwrap(), "echo here").await, "here");
    }
    world.end().await;
}

#[tokio::test]
async fn no_sandbox_starts_on_the_reserve() {
    // More than any disk has.
    let full = World::with(|config| config.reserve_bytes = u64::MAX);
    let error = full.sandboxes.start(spec(SessionId::new())).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("nearly full"), "{error}");
    full.end().await;
}

#[tokio::test]
async fn running_out_of_memory_is_named_as_the_cause() {
    let world = World::with(|config| config.limits.memory_bytes = 64 * MIB);
    let checks = world.sandboxes.doctor().await;
    let check = checks
        .iter()
        .find(|check| check.name == "memory limit")
        .unwrap();
    if check.state == CheckState::Ok {
        let sandbox = world.start(SessionId::new()).await;
        // This makes the kernel prefer the runner to each of several programs, which use too much together.
        let command = "echo 1000 > /proc/$PPID/oom_score_adj
            for i in 1 2 3 4 5 6; do head -c 20M /dev/zero | tail -c 20M | sleep 9 & done; wait";
        run(&*sandbox, command).await.unwrap_err();
        let cause = "the sandbox ran out of memory (its limit is 64 MiB)";
        assert_eq!(sandbox.ended().await, SandboxEnd::Died(cause.to_owned()));
    } else {
        not_run("this machine cannot limit the memory of a sandbox");
    }
    world.end().await;
}
