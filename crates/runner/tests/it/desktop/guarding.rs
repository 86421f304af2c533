//! Secrets in pictures and in the clipboard, with a real browser.

use deskhand_core::{blob::BlobFormat, secret::Secret};

use super::{
    pixels::Pixels,
    world::{World, until},
};

const VALUE: &str = "Canary-7f3a-Zq";
/// A page that shows the value in large letters of one colour.
const PAGE: &str = "<p style='font:bold 60px sans-serif;color:#ff0077'>Canary-7f3a-Zq</p>\
                    <input value=Canary-7f3a-Zq style='font-size:30px' autofocus>\
                    <script>let n = 0; addEventListener('copy', () => say(`copied ${++n}`));</script>";
const LETTERS: [u8; 3] = [0xff, 0x00, 0x77];

/// Returns the number of pixels in the colour of the letters.
async fn n_letters(world: &World) -> usize {
    let frame = world.desktop.look(BlobFormat::Png, None).await.unwrap();
    let pixels = Pixels::of(&frame);
    let (width, height) = (
        usize::from(frame.size.width),
        usize::from(frame.size.height),
    );
    let points = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    points.filter(|(x, y)| pixels.at(*x, *y) == LETTERS).count()
}

#[tokio::test]
async fn a_browser_that_calls_itself_something_else_is_covered_nevertheless() {
    let world = World::with_page_and_bars(PAGE).await;
    assert!(n_letters(&world).await > 100);
    world.desktop.cover(vec![Secret::new(VALUE)]);
    assert_eq!(n_letters(&world).await, 0);
    let window = world.window("ready").to_string();
    for (property, format, value) in [("WM_CLASS", "8s", "x"), ("_NET_WM_PID", "32c", "1")] {
        let change = [
            "-id", &window, "-f", property, format, "-set", property, value,
        ];
        world.run("xprop", &change).await;
    }
    assert_eq!(n_letters(&world).await, 0);
    world.end().await;
}

#[tokio::test]
async fn everything_is_covered_while_the_browsers_windows_are_not_found() {
    let world = World::with_page_and_bars(PAGE).await;
    world.desktop.cover(vec![Secret::new(VALUE)]);
    // The page says where the value is, but not on which part of the screen.
    world.unmap(world.window("ready"));
    let frame = world.desktop.look(BlobFormat::Png, None).await.unwrap();
    let pixels = Pixels::of(&frame);
    let (width, height) = (
        usize::from(frame.size.width),
        usize::from(frame.size.height),
    );
    let points = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let n_seen = points.filter(|(x, y)| pixels.at(*x, *y) != [0; 3]).count();
    // Only the pointer is drawn over it.
    assert!(n_seen < 500, "{n_seen}");
    world.end().await;
}

#[tokio::test]
async fn a_secret_cannot_be_copied_out_of_the_browser() {
    let world = World::with_page_and_bars(PAGE).await;
    let copy = async |told: &str| {
        world.key("ctrl+a").await;
        world.key("ctrl+c").await;
        world.title_after(told).await;
    };
    copy("copied 1").await;
    until("it is copied", || world.owner_of("CLIPBOARD") != 0).await;
    // What was copied before is forgotten, and so is everything that is copied later.
    world.desktop.cover(vec![Secret::new(VALUE)]);
    for selection in ["CLIPBOARD", "PRIMARY"] {
        until("it is forgotten", || world.owner_of(selection) == 0).await;
    }
    copy("copied 2").await;
    until("it is forgotten again", || world.owner_of("CLIPBOARD") == 0).await;
    world.end().await;
}
