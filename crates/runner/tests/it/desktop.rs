//! The desktop with its real parts: Xvnc, openbox and Chromium.

mod acting;
mod ending;
mod looking;
mod typing;
mod world;
