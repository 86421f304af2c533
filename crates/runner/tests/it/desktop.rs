//! The desktop with its real parts: Xvnc, openbox and Chromium.

mod acting;
mod browsing;
mod ending;
mod guarding;
mod looking;
mod pixels;
mod typing;
mod world;
