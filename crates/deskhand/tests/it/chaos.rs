//! Everything dies at random while agents work, and nothing is lost, done twice or left behind.
//!
//! `CHAOS_KILLS` says how often, `CHAOS_SESSIONS` in how many sessions at once, and `CHAOS_SEED`
//! which way; the seed is printed, and repeats what is done, if not the moment at which it hits.
//! `make chaos` does much of it.

mod arena;
mod audit;
mod blow;
mod reader;
mod talk;

use std::time::Duration;

use deskhand_testkit::Postgres;
use rand::{Rng, SeedableRng, rngs::StdRng};

use self::{arena::Arena, blow::Blow};
use crate::world::{say, setting};

/// How long agents work, at most, before the next blow.
const LONGEST_PEACE_MS: u64 = 500;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_dies_the_log_stays_true_on_sqlite() {
    rage(None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_dies_the_log_stays_true_on_postgres() {
    rage(Some(Postgres::start().await)).await;
}

async fn rage(postgres: Option<Postgres>) {
    let n_kills = setting("CHAOS_KILLS").unwrap_or(3);
    let n_sessions = setting("CHAOS_SESSIONS").unwrap_or(4);
    let seed = setting("CHAOS_SEED").unwrap_or_else(|| rand::random_range(0..1_000_000));
    say(&format!(
        "CHAOS_SEED={seed} CHAOS_KILLS={n_kills} CHAOS_SESSIONS={n_sessions}"
    ));
    let mut random = StdRng::seed_from_u64(seed);
    let mut arena = Arena::open(n_sessions, postgres).await;
    for n in 1..=n_kills {
        arena.keep_busy(&mut random).await;
        // Not a wait for something: a different moment each time.
        let peace = random.random_range(0..LONGEST_PEACE_MS);
        tokio::time::sleep(Duration::from_millis(peace)).await;
        let blow = Blow::choose(&mut random, arena.has_postgres());
        let hit = arena.strike(blow, &mut random).await;
        arena.audit().await;
        say(&format!("{n}/{n_kills} {blow:?}: {hit}"));
    }
    arena.come_to_rest().await;
    say(&arena.summary());
    arena.close().await;
}
