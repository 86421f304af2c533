//! Whole turns, with a model, a desk, a log and blobs that do as the test says.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on has failed"
)]

mod attached;
mod batches;
mod bounds;
mod briefings;
mod conversations;
mod decisions;
mod endings;
mod fakes;
mod first_looks;
mod hands;
mod held_up;
mod logs;
mod long_turns;
mod lost_computers;
mod opened;
mod outages;
mod places;
mod prices;
mod remote;
mod small_pictures;
mod speech;
mod stage;
mod steering;
mod stops;
