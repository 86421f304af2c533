//! Mouse and keys.

use std::time::{Duration, Instant};

use deskhand_core::action::{Action, Button};
use deskhand_runner::desktop::ActError;
use rustix::process::{Signal, kill_process};
use tokio_util::sync::CancellationToken;

use super::{
    pixels::Pixels,
    world::{World, at, click_at, pids, told},
};

/// Reports every mouse press with its button, count, place and modifiers.
const CLICKS: &str = "<body style='height:100vh'><script>
    const log = [];
    const name = e => [e.type, e.button, e.detail, e.clientX, e.clientY,
        (e.ctrlKey ? 'c' : '') + (e.shiftKey ? 's' : '') + (e.altKey ? 'a' : '')].join(',');
    for (const type of ['click', 'auxclick'])
        addEventListener(type, e => { e.preventDefault(); log.push(name(e)); say(log.join(' ')); });
    addEventListener('contextmenu', e => e.preventDefault());
</script>";

#[tokio::test]
async fn clicks_land_where_they_should_with_button_count_and_modifiers() {
    let world = World::with_page(CLICKS).await;

    assert_eq!(world.click(300, 200).await.pointer, Some(at(300, 200)));
    world.title("click,0,1,300,200,").await;

    let click = |button, count, modifiers: &[&str]| Action::Click {
        button,
        count,
        at: None,
        modifiers: modifiers.iter().map(|&name| name.to_owned()).collect(),
    };
    world.act(Action::Move { at: at(500, 400) }).await.unwrap();
    let clicked = world.act(click(Button::Right, 1, &[])).await.unwrap();
    assert_eq!(clicked.pointer, Some(at(500, 400)));
    world
        .title("click,0,1,300,200, auxclick,2,1,500,400,")
        .await;
    world
        .act(click(Button::Left, 2, &["ctrl", "shift"]))
        .await
        .unwrap();
    world
        .title("click,0,1,300,200, auxclick,2,1,500,400, click,0,1,500,400,cs click,0,2,500,400,cs")
        .await;
    world.end().await;
}

/// Runs `work` while the window manager is stopped, as can happen on a busy machine.
async fn with_late_window_manager(world: &World, work: impl Future<Output = ()>) {
    const LATE_BY: Duration = Duration::from_millis(600);
    let openbox = pids("openbox", world.folder().to_str().unwrap())[0];
    kill_process(openbox, Signal::STOP).unwrap();
    let go_on = async {
        tokio::time::sleep(LATE_BY).await;
        kill_process(openbox, Signal::CONT).unwrap();
    };
    tokio::join!(work, go_on);
}

#[tokio::test]
async fn clicks_land_when_the_window_manager_is_late() {
    let world = World::with_page(CLICKS).await;
    let click_with_control = Action::Click {
        button: Button::Left,
        count: 1,
        at: Some(at(300, 200)),
        modifiers: vec!["ctrl".to_owned()],
    };
    let clicks = async {
        world.act(click_with_control).await.unwrap();
        world.click(500, 400).await;
        world.click(700, 600).await;
    };
    with_late_window_manager(&world, clicks).await;
    world
        .title("click,0,1,300,200,c click,0,1,500,400, click,0,1,700,600,")
        .await;
    world.end().await;
}

#[tokio::test]
async fn a_picture_shows_the_effect_of_a_click_that_the_window_manager_held_back() {
    let world = World::with_page(
        "<body style='height:100vh;background:white'><script>
        addEventListener('click', () => { document.body.style.background = 'rgb(0,128,64)'; });
        </script>",
    )
    .await;
    let look = async {
        world.click(500, 400).await;
        // Long after the click was sent, and before it is delivered.
        tokio::time::sleep(Duration::from_millis(300)).await;
        let (_, frame) = world.act_and_look(Action::Screenshot).await;
        assert_eq!(Pixels::of(&frame).at(300, 300), [0, 128, 64]);
    };
    with_late_window_manager(&world, look).await;
    world.end().await;
}

#[tokio::test]
async fn three_clicks_select_the_line() {
    let world = World::with_page(
        "<p style='margin:100px'>one two three</p><script>
        document.addEventListener('selectionchange', () => say(getSelection().toString().trim()));
        </script>",
    )
    .await;
    let click = Action::Click {
        button: Button::Left,
        count: 3,
        at: Some(at(120, 110)),
        modifiers: Vec::new(),
    };
    world.act(click).await.unwrap();
    world.title("one two three").await;
    world.end().await;
}

#[tokio::test]
async fn an_action_outside_the_screen_is_refused() {
    let world = World::empty().await;
    let error = world.act(click_at(1024, 10)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "(1024, 10) is outside the 1024×768 screen"
    );
    world.end().await;
}

/// Reports the start and the end of a drag, and if it passed a certain place.
const DRAGS: &str = "<body style='height:100vh;user-select:none'><script>
    let places = [];
    addEventListener('pointerdown', e => { places = [[e.clientX, e.clientY]]; });
    addEventListener('pointermove', e => {
        if (e.buttons) for (const c of e.getCoalescedEvents()) places.push([c.clientX, c.clientY]);
    });
    addEventListener('pointerup', e => {
        const has = (x, y) => places.some(p => p[0] === x && p[1] === y);
        say(`from ${places[0]} via ${has(400, 300)} to ${e.clientX},${e.clientY} ` +
            `smooth ${places.length > 8}`);
    });
    </script>";

#[tokio::test]
async fn a_drag_follows_its_path() {
    let world = World::with_page(DRAGS).await;
    let path = vec![at(100, 100), at(400, 300), at(200, 500)];
    let drag = Action::Drag {
        path,
        modifiers: Vec::new(),
    };
    let dragged = world.act(drag).await.unwrap();
    assert_eq!(dragged.dragged_from, Some(at(100, 100)));
    assert_eq!(dragged.pointer, Some(at(200, 500)));
    world
        .title("from 100,100 via true to 200,500 smooth true")
        .await;

    let drag_from_pointer = Action::Drag {
        path: vec![at(300, 300)],
        modifiers: Vec::new(),
    };
    world.act(drag_from_pointer).await.unwrap();
    world
        .title("from 200,500 via false to 300,300 smooth true")
        .await;
    world.end().await;
}

#[tokio::test]
async fn a_drag_follows_its_path_when_the_window_manager_is_late() {
    let world = World::with_page(DRAGS).await;
    let drag = Action::Drag {
        path: vec![at(100, 100), at(400, 300), at(200, 500)],
        modifiers: Vec::new(),
    };
    let drag = async {
        world.act(drag).await.unwrap();
        world.act(Action::Move { at: at(700, 700) }).await.unwrap();
    };
    with_late_window_manager(&world, drag).await;
    world
        .title("from 100,100 via true to 200,500 smooth true")
        .await;
    world.end().await;
}

#[tokio::test]
async fn a_thing_is_dragged_and_dropped() {
    let world = World::with_page(
        "<div draggable=true style='position:absolute;left:50px;top:50px;width:100px;height:100px;\
         background:#c33'>thing</div>\
         <div id=bin style='position:absolute;left:500px;top:400px;width:200px;height:200px;\
         background:#3c3'>bin</div><script>
         addEventListener('dragstart', e => e.dataTransfer.setData('text/plain', 'cargo'));
         bin.addEventListener('dragover', e => e.preventDefault());
         bin.addEventListener('drop', e => {
             e.preventDefault();
             say('dropped ' + e.dataTransfer.getData('text/plain'));
         });
         </script>",
    )
    .await;
    let drag = Action::Drag {
        path: vec![at(100, 100), at(600, 500)],
        modifiers: Vec::new(),
    };
    world.act(drag).await.unwrap();
    world.title("dropped cargo").await;
    world.end().await;
}

#[tokio::test]
async fn the_wheel_turns_both_ways() {
    let world = World::with_page(
        "<div style='width:5000px;height:5000px'></div><script>
        let x = 0, y = 0;
        addEventListener('wheel', e => {
            x -= e.wheelDeltaX / 120; y -= e.wheelDeltaY / 120;
            say(`wheel ${x},${y}`);
        });
        </script>",
    )
    .await;
    let scroll = |dx, dy| Action::Scroll {
        at: Some(at(500, 400)),
        dx,
        dy,
        modifiers: Vec::new(),
    };
    let scrolled = world.act(scroll(0, 5)).await.unwrap();
    assert_eq!(scrolled.pointer, Some(at(500, 400)));
    world.title("wheel 0,5").await;
    world.act(scroll(3, -2)).await.unwrap();
    world.title("wheel 3,3").await;
    world.end().await;
}

const KEYS: &str = "<body tabindex=0><script>
    const log = [];
    addEventListener('keydown', e => {
        e.preventDefault();
        log.push((e.ctrlKey ? 'c' : '') + (e.altKey ? 'a' : '') + (e.shiftKey ? 's' : '') +
            (e.metaKey ? 'm' : '') + ':' + e.key);
        say('keys ' + told(log.join(' ')));
    });
    addEventListener('keyup', e => { log.push('up:' + e.key); say('keys ' + told(log.join(' '))); });
</script>";

#[tokio::test]
async fn keys_and_chords_arrive_by_name() {
    let world = World::with_page(KEYS).await;
    world.click(10, 10).await;
    world.key("Return ctrl+a").await;
    world.key("ctrl++").await;
    world.key("A").await;
    world.key("CTRL+S").await;
    world.key("Page_Down").await;
    world.key("é ß").await;
    let expected = ":Enter up:Enter c:Control c:a up:a up:Control \
        c:Control cs:Shift cs:+ up:+ up:Shift up:Control \
        s:Shift s:A up:A up:Shift c:Control c:s up:s up:Control \
        :PageDown up:PageDown :é up:é :ß up:ß";
    world.title(&format!("keys {}", told(expected))).await;

    let error = world.act(Action::Key {
        keys: "ctrl+frobnicate".to_owned(),
        repeat: 1,
    });
    assert_eq!(
        error.await.unwrap_err().to_string(),
        r#"there is no key called "frobnicate": use names such as Return, ctrl+s or F5"#
    );
    world.end().await;
}

#[tokio::test]
async fn what_is_typed_after_a_shortcut_of_the_browser_does_not_go_to_a_page_that_is_late() {
    let world = World::with_page_and_bars(
        "<script>
        addEventListener('keydown', e => {
            const until = performance.now() + (e.key === 'Control' ? 1200 : 0);
            while (performance.now() < until);
        });
        </script>",
    )
    .await;
    let other = world.folder().join("other.html");
    std::fs::write(&other, "<title>arrived</title>").unwrap();
    let keys = "ctrl+l".to_owned();
    world.act_and_look(Action::Key { keys, repeat: 1 }).await;
    world
        .type_text(&format!("file://{}\n", other.display()))
        .await;
    world.title_after("arrived").await;
    world.end().await;
}

#[tokio::test]
async fn input_is_not_lost_on_a_page_that_is_not_painted_yet() {
    let world = World::with_page(
        "<body style='height:100vh'><script>
        addEventListener('click', () => { location = 'other.html'; });
        </script>",
    )
    .await;
    let other = world.folder().join("other.html");
    let page = "<body style='height:100vh'><script>
        let heard = 'heard';
        for (const type of ['keydown', 'click'])
            addEventListener(type, e => { heard += ` ${e.key ?? 'click'}`; document.title = heard; });
        document.title = heard;
        // A page is painted only after its scripts, so this one is painted late.
        const until = performance.now() + 1000;
        while (performance.now() < until);
        </script>";
    std::fs::write(&other, page).unwrap();
    world.click(300, 300).await;
    world.title("heard").await;
    world.key("a").await;
    world.click(400, 400).await;
    world.key("b").await;
    world.title("heard a click b").await;
    world.end().await;
}

#[tokio::test]
async fn a_key_is_repeated() {
    let world = World::with_page(
        "<body tabindex=0><script>
        let n = 0;
        addEventListener('keydown', e => { n += e.key === 'ArrowDown'; say('downs ' + n); });
        </script>",
    )
    .await;
    world.click(10, 10).await;
    let keys = "Down".to_owned();
    let action = Action::Key { keys, repeat: 100 };
    world.act(action).await.unwrap();
    world.title("downs 100").await;
    world.end().await;
}

const HOLDING: &str = "<body tabindex=0 style='height:100vh'><script>
    const down = new Set();
    const tell = () => say('down ' + [...down].sort().join(' '));
    addEventListener('keydown', e => { down.add(e.key); tell(); });
    addEventListener('keyup', e => { down.delete(e.key); tell(); });
    addEventListener('mousedown', e => { down.add('button'); tell(); });
    addEventListener('mouseup', e => { down.delete('button'); tell(); });
</script>";

#[tokio::test]
async fn a_held_key_is_released_in_the_end() {
    let world = World::with_page(HOLDING).await;
    world.click(10, 10).await;
    let started = Instant::now();
    let keys = "shift+F2".to_owned();
    let action = Action::HoldKey { keys, ms: 1500 };
    let (held, ()) = tokio::join!(world.act(action), world.title("down F2 Shift"));
    held.unwrap();
    assert!(started.elapsed() >= Duration::from_millis(1500));
    world.title("down").await;
    world.end().await;
}

#[tokio::test]
async fn cancelling_releases_everything() {
    let world = World::with_page(HOLDING).await;
    world.click(10, 10).await;
    world.title("down").await;
    let button = Button::Left;
    world.act(Action::MouseDown { button }).await.unwrap();
    world.title("down button").await;

    let cancel = CancellationToken::new();
    let hold = Action::HoldKey {
        keys: "ctrl".to_owned(),
        ms: 60_000,
    };
    let (held, ()) = tokio::join!(
        world.desktop.act(&hold, true, None, cancel.clone()),
        async {
            world.title("down Control button").await;
            cancel.cancel();
        }
    );
    assert!(matches!(held, Err(ActError::Cancelled)), "{held:?}");
    world.title("down").await;
    world.end().await;
}

#[tokio::test]
async fn what_is_held_can_be_released_at_any_time() {
    let world = World::with_page(HOLDING).await;
    world.click(10, 10).await;
    let button = Button::Left;
    world.act(Action::MouseDown { button }).await.unwrap();
    world.title("down button").await;
    world.desktop.release_all().await.unwrap();
    world.title("down").await;

    world.act(Action::MouseDown { button }).await.unwrap();
    world.title("down button").await;
    world.act(Action::MouseUp { button }).await.unwrap();
    world.title("down").await;
    world.end().await;
}

#[tokio::test]
async fn a_wait_can_be_cancelled_and_looking_goes_on_meanwhile() {
    let world = World::empty().await;
    let cancel = CancellationToken::new();
    let wait = Action::Wait { ms: 300_000 };
    let (waited, ()) = tokio::join!(
        world.desktop.act(&wait, true, None, cancel.clone()),
        async {
            let look = world
                .desktop
                .look(deskhand_core::blob::BlobFormat::Jpeg, None);
            assert!(look.await.unwrap().bytes.starts_with(&[0xff, 0xd8]));
            cancel.cancel();
        }
    );
    assert!(matches!(waited, Err(ActError::Cancelled)), "{waited:?}");
    world.end().await;
}

#[tokio::test]
async fn the_pointer_tells_where_it_is() {
    let world = World::empty().await;
    world.act(Action::Move { at: at(512, 384) }).await.unwrap();
    let asked = world.desktop.act(
        &Action::CursorPosition,
        false,
        None,
        CancellationToken::new(),
    );
    let asked = asked.await.unwrap();
    assert_eq!(asked.pointer, Some(at(512, 384)));
    assert_eq!(asked.frame, None);
    world.end().await;
}
