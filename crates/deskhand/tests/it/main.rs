//! The program from outside: what it prints, how it ends, what it leaves behind.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bad_input;
mod budgets;
mod bus;
mod changes;
mod chaos;
mod config;
mod crash;
mod decisions;
mod doctor;
mod files;
mod gateway;
mod health;
mod help;
mod http_secrets;
mod https;
mod isolation;
mod lease;
mod life;
mod logs;
mod metrics;
mod models;
mod network;
mod old_data;
mod openapi;
mod people;
mod postgres;
mod program;
mod properties;
mod queue;
mod quirks;
mod rights;
mod run;
mod screen_sizes;
mod secrets;
mod serve;
mod shutdown;
mod stream;
mod terminal_attach;
mod terminal_decisions;
mod terminal_people;
mod terminal_secrets;
mod terminals;
mod typing;
mod world;
