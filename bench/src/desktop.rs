//! Actions of an agent on a desktop, through the server and the runner link, next to `xdotool` and `scrot` started as
//! programs on the same kind of screen.

pub(crate) mod ours;
pub(crate) mod page;
mod peer;

use crate::table::{Row, Table};

pub(crate) async fn measure(program: &str) {
    println!("Measuring ours (one session, 1024×768, real Chromium) …");
    let ours = ours::measure(program).await;
    println!("Measuring xdotool and scrot on the same page …");
    let peer = peer::measure();

    let mut table = Table::next_to("xdotool/scrot");
    table.add(Row::ms(
        "screenshot, PNG",
        ours.screenshot_ms,
        Some(peer.screenshot_ms),
        7.0,
    ));
    table.add(Row::ms("click", ours.click_ms, Some(peer.click_ms), 2.0));
    table.add(Row::ms("key", ours.key_ms, Some(peer.key_ms), 2.0));
    table.add(Row::ms(
        "scroll by 3",
        ours.scroll_ms,
        Some(peer.scroll_ms),
        2.0,
    ));
    table.add(Row::ms(
        "click, settled, screenshot",
        ours.click_look_ms,
        Some(peer.click_ms + 2_000.0 + peer.screenshot_ms),
        100.0,
    ));
    for (what, typing, peer_ms) in [
        ("type 50 characters", &ours.type_50, peer.type_50_ms),
        ("type 500 characters", &ours.type_500, peer.type_500_ms),
    ] {
        table.add(Row::ms(what, typing.done_ms, Some(peer_ms), 60.0));
        let until_seen = Row::ms(
            "… until the page shows all",
            typing.seen_ms,
            Some(peer_ms),
            60.0,
        );
        table.add(until_seen.without_target());
    }
    table.add(Row::ms("shell round trip", ours.shell_ms, None, 3.0));
    table.add(Row::ms("server started", ours.start_ms, None, 100.0));
    table.add(Row::ms(
        "session → first screenshot",
        ours.first_screenshot_ms,
        None,
        900.0,
    ));
    table.add(Row::ms(
        "session → Chromium painted",
        ours.painted_ms,
        None,
        900.0,
    ));
    table.add(Row::mb("server idle, own memory", ours.idle_own_mb, 12.0));
    table.add(Row::mb("… with its program file, RSS", ours.idle_mb, 0.0).without_target());
    table.add(Row::mb("first session, PSS", ours.first_session_mb, 500.0));
    table.add(Row::mb(
        "each further session, PSS",
        ours.further_session_mb,
        300.0,
    ));
    println!("{table}");
    println!(
        "A picture is {} KB. The peer of “click, settled, screenshot” is xdotool, the fixed two seconds that",
        ours.screenshot_kb
    );
    println!(
        "Anthropic's demo waits, and scrot. xdotool's typing is timed until it returns; ours also until a"
    );
    println!(
        "watcher of the screen sees that every character has arrived, which takes Chromium 1 ms each."
    );
}
