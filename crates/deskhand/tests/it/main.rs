//! The program from outside: what it prints, how it ends, what it leaves behind.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod config;
mod doctor;
mod help;
mod program;
mod run;
mod serve;
