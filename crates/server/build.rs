//! Builds this crate again when the page it embeds was built again.

fn main() {
    println!("cargo::rerun-if-changed=../../web/dist");
}
