//! Gives mutated inputs to code that reads what others wrote.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the number of inputs is worth reading, and a failure has to be repeatable"
)]

use std::{
    hash::{BuildHasher, RandomState},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    time::{Duration, Instant},
};

use crate::rss_bytes;

/// The time that each target gets without `FUZZ_SECONDS`.
const DEFAULT_TIME: Duration = Duration::from_millis(300);
/// The longest input.
const LONGEST: usize = 64 * 1024;
/// The growth of the process that counts as a leak. Parsers allocate and free, so a little is normal.
const MOST_GROWTH: u64 = 64 * 1024 * 1024;

/// Calls `target` with mutations of the `seeds` for `FUZZ_SECONDS`, or for a moment without it.
///
/// Fails if a call panics or if the process grows. A failure prints `FUZZ_SEED`, which repeats the inputs, and keeps the
/// input in a file.
pub fn fuzz(name: &str, seeds: &[&[u8]], mut target: impl FnMut(&[u8])) {
    let mut run = FuzzRun::start(name, DEFAULT_TIME);
    let seed = run.seed();
    let mut random = Random(seed);
    let mut corpus: Vec<Vec<u8>> = seeds.iter().map(|seed| seed.to_vec()).collect();
    let mut n_inputs: u64 = 0;
    while run.goes_on() {
        let input = random.mutation(&corpus);
        n_inputs += 1;
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(&input))) {
            let file = std::env::temp_dir().join(format!("fuzz-{name}"));
            let kept = std::fs::write(&file, &input);
            eprintln!(
                "{name}: input {n_inputs} of FUZZ_SEED={seed} in {}: {kept:?}",
                file.display()
            );
            resume_unwind(panic);
        }
        // Mutations of mutations go further.
        if n_inputs.is_multiple_of(64) && corpus.len() < 256 {
            corpus.push(input);
        }
    }
    run.end(n_inputs);
}

/// One fuzzing run: its time limit, its seed, and the memory use at its start.
#[derive(Debug)]
pub struct FuzzRun {
    name: String,
    seed: u64,
    started: Instant,
    time: Duration,
    settled_bytes: Option<u64>,
}

impl FuzzRun {
    /// Starts a search for `FUZZ_SECONDS`, or for `default_time` without it.
    pub fn start(name: &str, default_time: Duration) -> Self {
        let seconds = number("FUZZ_SECONDS").map(Duration::from_secs);
        let random = || RandomState::new().hash_one(name) >> 32;
        Self {
            name: name.to_owned(),
            seed: number("FUZZ_SEED").unwrap_or_else(random),
            started: Instant::now(),
            time: seconds.unwrap_or(default_time),
            settled_bytes: None,
        }
    }

    /// Returns the number from which all inputs are generated.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns true until the time limit is reached.
    pub fn goes_on(&mut self) -> bool {
        let elapsed = self.started.elapsed();
        // The first half fills caches and the allocator's reserves.
        if self.settled_bytes.is_none() && elapsed > self.time / 2 {
            self.settled_bytes = Some(rss_bytes(own_pid()));
        }
        elapsed < self.time
    }

    /// Prints the number of inputs. Fails if the process uses more memory than at the start.
    pub fn end(self, n_inputs: u64) {
        let Self { name, seed, .. } = self;
        let now = rss_bytes(own_pid());
        let settled = self.settled_bytes.unwrap_or(now);
        println!("{name}: {n_inputs} inputs, FUZZ_SEED={seed}");
        assert!(
            now < settled + MOST_GROWTH,
            "{name} grew from {settled} to {now} bytes with FUZZ_SEED={seed}"
        );
    }
}

fn own_pid() -> i32 {
    std::process::id().try_into().unwrap()
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().expect("a whole number"))
}

/// A small generator of random numbers, the same everywhere (`SplitMix64`).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, and 0 if there is none.
    fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end.max(1)).unwrap();
        usize::try_from(self.next() % end).unwrap()
    }

    fn byte(&mut self) -> u8 {
        // Bytes that mean something to many formats come more often.
        const SPECIAL: &[u8] = b"\0\x01\x7f\x80\xff{}[]\",:\\\n =#&*-0159e";
        if self.below(2) == 0 {
            SPECIAL[self.below(SPECIAL.len())]
        } else {
            self.next().to_le_bytes()[0]
        }
    }

    /// Changes one input of the corpus in one to four places.
    fn mutation(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut input = corpus[self.below(corpus.len())].clone();
        for _ in 0..=self.below(4) {
            self.mutate(&mut input, corpus);
        }
        input.truncate(LONGEST);
        input
    }

    fn mutate(&mut self, input: &mut Vec<u8>, corpus: &[Vec<u8>]) {
        let at = self.below(input.len() + 1);
        let end = (at + self.below(32)).min(input.len());
        match self.below(7) {
            0 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << self.below(8);
                }
            }
            1 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte = self.byte();
                }
            }
            2 => input.insert(at, self.byte()),
            3 => drop(input.drain(at..end)),
            4 => input.truncate(at),
            5 => {
                // Says the same thing again, up to a thousand times.
                let piece = input[at..end].repeat(1 + self.below(1000));
                input.splice(at..at, piece);
            }
            _ => {
                let other = &corpus[self.below(corpus.len())];
                let from = self.below(other.len() + 1);
                input.splice(at..end, other[from..].iter().copied());
            }
        }
    }
}
