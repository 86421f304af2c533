//! The runner against real programs: bash, files, HTTP, and a whole run with a desktop.

mod desktop;
mod editor;
mod link;
mod shell;
mod shop;
