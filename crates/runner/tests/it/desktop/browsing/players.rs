//! The players of pages: found wherever they are, played with sound, and shown as large as the screen.

use std::time::{Duration, Instant};

use deskhand_core::browser::{BrowserFinding, BrowserVerb, PageMedia, PlayerState, PlayerWish};

use super::Desk;

async fn ask(desk: &Desk, wish: PlayerWish) -> PageMedia {
    let found = desk.verb(BrowserVerb::Player(wish)).await.finding;
    let BrowserFinding::Media(media) = found else {
        panic!("not a player: {found:?}");
    };
    media
}

/// Looks until the player is as expected.
async fn until(desk: &Desk, is_so: impl Fn(&PlayerState) -> bool) -> PlayerState {
    let mut player = ask(desk, PlayerWish::Look).await.player.unwrap();
    for _ in 0..100 {
        if is_so(&player) {
            return player;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        player = ask(desk, PlayerWish::Look).await.player.unwrap();
    }
    panic!("it stays {player:?}");
}

pub(super) async fn the_largest_player_is_used_wherever_it_is(desk: &Desk) {
    desk.open("/form").await;
    let media = ask(desk, PlayerWish::Look).await;
    assert_eq!((media.status, media.player), (Some(200), None));

    // The video is in a frame and in a shadow tree; the page itself has only small ones.
    desk.open("/cinema").await;
    let player = until(desk, |player| player.has_picture).await;
    assert!(player.is_paused && player.is_muted && !player.fills_screen);
    let player = ask(desk, PlayerWish::Play).await.player.unwrap();
    assert!(!player.is_paused && !player.is_muted, "{player:?}");
    let before = player.position_ms;
    until(desk, |player| {
        player.position_ms > before && player.n_frames > 0
    })
    .await;
    ask(desk, PlayerWish::FillScreen).await;
    let player = until(desk, |player| player.fills_screen).await;
    assert!(player.is_playing());
    let player = ask(desk, PlayerWish::Stop).await.player.unwrap();
    assert!(player.is_paused, "{player:?}");
    until(desk, |player| !player.fills_screen).await;
}

pub(super) async fn a_frame_that_hangs_does_not_hide_the_player(desk: &Desk) {
    desk.open("/hung").await;
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        assert!(Instant::now() < until, "the frame did not hang");
        let asked = Instant::now();
        assert!(ask(desk, PlayerWish::Look).await.player.is_some());
        // The frame has two seconds, and hangs for ten.
        let took = asked.elapsed();
        assert!(took < Duration::from_secs(7), "{took:?}");
        if took > Duration::from_secs(1) {
            return;
        }
    }
}

pub(super) async fn looks_are_no_clicks_and_sound_has_an_end(desk: &Desk) {
    desk.open("/radio").await;
    ask(desk, PlayerWish::Look).await;
    desk.says("active false").await;
    let player = ask(desk, PlayerWish::Play).await.player.unwrap();
    assert!(!player.has_picture && !player.is_muted, "{player:?}");
    assert_eq!(player.duration_ms, Some(1_000));
    desk.says("active true").await;
    let player = until(desk, |player| player.is_ended).await;
    assert!(!player.is_playing());
}
