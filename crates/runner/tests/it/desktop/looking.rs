//! Pictures of the screen, and the moment at which they are taken.

use std::time::{Duration, Instant};

use deskhand_core::{
    action::{Action, Point, Region, ScreenSize},
    blob::BlobFormat,
};
use deskhand_runner::desktop::ActError;

use super::{
    pixels::Pixels,
    world::{World, at, click_at},
};

#[tokio::test]
async fn an_empty_desktop_is_one_colour_with_an_arrow_on_it() {
    let world = World::empty().await;
    let move_away = Action::Move { at: at(700, 600) };
    let (_, frame) = world.act_and_look(move_away).await;
    let pixels = Pixels::of(&frame);
    let background = pixels.at(10, 10);
    assert_eq!(background, [0x38, 0x4f, 0x63]);
    assert_eq!(pixels.at(1000, 700), background);
    assert_eq!(frame.pointer, at(700, 600));
    let around_pointer = (600..620).flat_map(|y| (700..712).map(move |x| (x, y)));
    let n_drawn = around_pointer
        .filter(|(x, y)| pixels.at(*x, *y) != background)
        .count();
    assert!(n_drawn > 20, "the pointer has {n_drawn} pixels");
    world.end().await;
}

#[tokio::test]
async fn the_picture_shows_what_the_action_led_to_also_when_it_comes_late() {
    let world = World::with_page(
        "<body style='height:100vh'><script>
        addEventListener('click', () => setTimeout(() => {
            document.body.style.background = '#123456';
        }, 120));
        </script>",
    )
    .await;
    let (clicked, frame) = world.act_and_look(click_at(300, 300)).await;
    assert_eq!(clicked.pointer, Some(Point { x: 300, y: 300 }));
    assert_eq!(Pixels::of(&frame).at(600, 600), [0x12, 0x34, 0x56]);
    world.end().await;
}

#[tokio::test]
async fn a_screenshot_waits_for_the_action_before_it() {
    let world = World::with_page(
        "<body style='height:100vh'><script>
        addEventListener('click', () => { document.body.style.background = '#123456'; });
        </script>",
    )
    .await;
    world.click(300, 300).await;
    let (_, frame) = world.act_and_look(Action::Screenshot).await;
    assert_eq!(Pixels::of(&frame).at(600, 600), [0x12, 0x34, 0x56]);
    world.end().await;
}

#[tokio::test]
async fn a_page_that_never_rests_is_not_waited_for_for_ever() {
    let world = World::with_page(
        "<canvas id=c width=300 height=300></canvas><script>
        const paint = c.getContext('2d');
        let n = 0;
        const draw = () => {
            paint.fillStyle = `rgb(${n++ % 256},0,0)`; paint.fillRect(0, 0, 300, 300);
            requestAnimationFrame(draw);
        };
        draw();
        </script>",
    )
    .await;
    let started = Instant::now();
    world.act_and_look(click_at(300, 300)).await;
    let took = started.elapsed();
    // It comes although the page never rests, and not before the page had its time.
    assert!(took >= Duration::from_millis(1990), "{took:?}");
    world.end().await;
}

#[tokio::test]
async fn a_zoom_shows_a_part_as_large_as_fits() {
    let world = World::with_page(
        "<div style='position:absolute;left:400px;top:300px;width:100px;height:40px;\
         background:#0a64c8'></div>",
    )
    .await;
    let region = Region {
        x0: 400,
        y0: 300,
        x1: 500,
        y1: 350,
    };
    let (_, frame) = world.act_and_look(Action::Zoom { region }).await;
    let size = ScreenSize {
        width: 1024,
        height: 512,
    };
    assert_eq!(frame.size, size);
    let pixels = Pixels::of(&frame);
    assert_eq!(pixels.at(5, 5), [10, 100, 200]);
    assert_eq!(pixels.at(1000, 380), [10, 100, 200]);
    assert_eq!(pixels.at(500, 500), [255, 255, 255]);
    world.end().await;
}

fn size(width: u16, height: u16) -> ScreenSize {
    ScreenSize { width, height }
}

#[tokio::test]
async fn a_picture_has_the_size_that_is_asked_for() {
    let world = World::with_page_on(
        size(2560, 1600),
        "<body style='background:linear-gradient(90deg, #0a64c8 50%, #fedcba 50%);height:100vh'>",
    )
    .await;
    let shown = size(1389, 868);
    let (_, frame) = world
        .act_and_show(Action::Move { at: at(2000, 1500) }, Some(shown))
        .await;
    assert_eq!(frame.size, shown);
    assert_eq!(
        frame.pointer,
        at(2000, 1500),
        "the pointer is on the screen"
    );
    let pixels = Pixels::of(&frame);
    for (x, y, colour) in [
        (0, 0, [0x0a, 0x64, 0xc8]),
        (690, 867, [0x0a, 0x64, 0xc8]),
        (698, 0, [0xfe, 0xdc, 0xba]),
        (1388, 867, [0xfe, 0xdc, 0xba]),
    ] {
        assert_eq!(pixels.at(x, y), colour, "({x}, {y})");
    }

    let look = |shown| world.desktop.look(BlobFormat::Png, shown);
    assert_eq!(look(Some(shown)).await.unwrap().size, shown);
    assert_eq!(look(None).await.unwrap().size, size(2560, 1600));
    let error = look(Some(size(0, 868))).await.unwrap_err();
    assert!(matches!(error, ActError::Picture(_)), "{error:?}");
    world.end().await;
}

#[tokio::test]
async fn a_zoom_shows_the_pixels_of_the_screen_whatever_size_is_shown() {
    // In a smaller picture, nothing would be left of a board whose fields are one pixel each.
    let world = World::with_page_on(
        size(3840, 2160),
        "<body style='height:100vh'><canvas id=c width=200 height=100 style='position:absolute;left:1000px;top:500px'></canvas>
        <script>
        const paint = c.getContext('2d');
        for (let x = 0; x < 200; x++) for (let y = 0; y < 100; y++) {
            paint.fillStyle = (x + y) % 2 ? '#000' : '#fff';
            paint.fillRect(x, y, 1, 1);
        }
        addEventListener('click', e => say(`clicked ${e.clientX} ${e.clientY}`));
        </script>",
    )
    .await;
    world.act(Action::Move { at: at(10, 10) }).await.unwrap();
    let board = Region {
        x0: 1010,
        y0: 510,
        x1: 1050,
        y1: 530,
    };
    let shown = Some(size(2000, 1125));
    let zoom = Action::Zoom { region: board };
    let (_, frame) = world.act_and_show(zoom, shown).await;
    assert_eq!(frame.size, size(2000, 1000), "twice as wide as high");
    let pixels = Pixels::of(&frame);
    for y in 0..20 {
        for x in 0..40 {
            let middle = |field: usize| (2 * field + 1) * 2000 / 80;
            let [value, ..] = pixels.at(middle(x), middle(y));
            let is_black = (x + y) % 2 == 1;
            assert_eq!(value < 64, is_black, "field ({x}, {y}) is {value}");
            assert_eq!(value > 191, !is_black, "field ({x}, {y}) is {value}");
        }
    }

    // A part that is larger than the picture is made to fit too.
    let tall = Region {
        x0: 100,
        y0: 0,
        x1: 300,
        y1: 2160,
    };
    let (_, frame) = world
        .act_and_show(Action::Zoom { region: tall }, shown)
        .await;
    assert_eq!(frame.size, size(104, 1125));

    // Later actions refer to the whole screen again.
    world.click(3839, 2159).await;
    world.title("clicked 3839 2159").await;
    world.end().await;
}

#[tokio::test]
async fn clicks_and_pictures_reach_the_corner_of_screens_of_other_sizes() {
    // Other tests use 1024×768, 2560×1600 and 3840×2160.
    for screen in [size(1280, 800), size(1920, 1080)] {
        let world = World::with_page_on(
            screen,
            "<body style='background:#fedcba;height:100vh'><script>
            addEventListener('click', e => {
                document.body.style.background = '#123456';
                say(`${innerWidth} ${innerHeight} ${e.clientX} ${e.clientY}`);
            });
            </script>",
        )
        .await;
        let ScreenSize { width, height } = screen;
        let (x, y) = (i32::from(width) - 1, i32::from(height) - 1);
        let (_, frame) = world.act_and_look(click_at(x, y)).await;
        assert_eq!((frame.size, frame.pointer), (screen, at(x, y)));
        world.title(&format!("{width} {height} {x} {y}")).await;
        let asked = Instant::now();
        loop {
            let (_, frame) = world.act_and_look(Action::Screenshot).await;
            if Pixels::of(&frame).at(0, 0) == [0x12, 0x34, 0x56] {
                break;
            }
            assert!(asked.elapsed() < Duration::from_secs(60), "{screen}");
        }
        world.end().await;
    }
}

#[tokio::test]
async fn the_browser_fills_the_screen_without_a_frame() {
    let world = World::with_page("<body style='background:#fedcba'>").await;
    let (_, frame) = world.act_and_look(Action::Screenshot).await;
    let pixels = Pixels::of(&frame);
    for (x, y) in [(0, 0), (1023, 0), (0, 767), (1023, 767)] {
        assert_eq!(pixels.at(x, y), [0xfe, 0xdc, 0xba], "({x}, {y})");
    }
    world.end().await;
}
