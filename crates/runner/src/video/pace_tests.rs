use super::*;

const PLACE: Point = Point { x: 0, y: 0 };

fn frame(layer: u8, is_key: bool) -> VideoFrame {
    VideoFrame {
        number: 0,
        captured_at_us: 0,
        is_key,
        layer,
        size: deskhand_core::action::ScreenSize::default(),
        picture: bytes::Bytes::from_static(b"x"),
    }
}

/// Plays a capture from `start` on for `end_ms`, while something is drawn at `changes_ms`. Returns the time of each frame,
/// and true if it is a key frame.
fn play(pace: &mut FilmPace, start: Instant, end_ms: u64, changes_ms: &[u64]) -> Vec<(u128, bool)> {
    let end = start + Duration::from_millis(end_ms);
    let (mut now, mut shots, mut changes) = (start, Vec::new(), changes_ms.iter().peekable());
    while now < end {
        while changes
            .next_if(|at| start + Duration::from_millis(**at) <= now)
            .is_some()
        {
            pace.change();
        }
        match pace.step(now) {
            Step::Shoot { key } => {
                let layer = [0, 2, 1, 2][shots.len() % 4];
                pace.shot(now, Some(&frame(layer, key)), PLACE);
                shots.push((now.duration_since(start).as_millis(), key));
            }
            Step::LookAtPointer => pace.look(PLACE, now),
            Step::WaitUntil(then) => {
                let change = changes.peek().map(|at| start + Duration::from_millis(**at));
                now = change.unwrap_or(then).min(then);
            }
        }
    }
    shots
}

#[test]
fn a_moving_screen_has_thirty_frames_a_second_and_one_at_rest_has_none() {
    let start = Instant::now();
    let mut pace = FilmPace::new(start);
    let changes: Vec<u64> = (0..1000).step_by(5).collect();
    let moving = play(&mut pace, start, 1000, &changes);
    assert!((30..=31).contains(&moving.len()), "{}", moving.len());
    assert_eq!(moving.iter().filter(|(_, key)| *key).count(), 1);

    let later = start + Duration::from_millis(1000);
    let resting = play(&mut pace, later, 5000, &[]);
    assert!(resting.len() <= 9, "{resting:?}");
    assert!(resting.iter().all(|(at, _)| *at < 1000), "{resting:?}");
    let again = later + Duration::from_secs(5);
    assert!(play(&mut pace, again, 5000, &[]).is_empty());
}

#[test]
fn the_last_frame_of_a_screen_at_rest_is_in_the_lowest_layer() {
    let start = Instant::now();
    for n_changes in 1..9 {
        let mut pace = FilmPace::new(start);
        let changes: Vec<u64> = (0..n_changes).map(|n| n * 40).collect();
        let shots = play(&mut pace, start, 3000, &changes);
        assert_eq!(shots.len() % 4, 1, "{shots:?}");
    }
}

#[test]
fn there_is_at_most_one_key_frame_a_second() {
    let start = Instant::now();
    let mut pace = FilmPace::new(start);
    play(&mut pace, start, 3000, &[]);
    let mut keys = Vec::new();
    for n in 0..30 {
        pace.wants_key = true;
        let at = start + Duration::from_millis(3000 + n * 100);
        let shots = play(&mut pace, at, 100, &[]);
        keys.extend(shots.iter().filter(|(_, key)| *key).map(|_| n));
    }
    assert_eq!(keys, [0, 10, 20]);
}

#[test]
fn a_pointer_that_moved_is_a_change() {
    let start = Instant::now();
    let mut pace = FilmPace::new(start);
    play(&mut pace, start, 3000, &[]);
    let now = start + Duration::from_secs(3);
    pace.look(Point { x: 4, y: 0 }, now);
    assert_eq!(pace.step(now), Step::Shoot { key: false });
}

#[test]
fn a_camera_that_is_always_late_still_grants_key_frames() {
    let start = Instant::now();
    let (draw, drawn) = watch::channel(start);
    let mut capture = VideoCapture {
        camera: None,
        drawn,
        wishes: Arc::default(),
        pace: FilmPace::new(start),
    };
    let mut keys = Vec::new();
    for n in 0..100 {
        let now = start + n * 2 * FRAME_TIME;
        if n == 50 {
            capture.wishes.add(VideoWish::KeyFrame);
        }
        draw.send_replace(now);
        let Ok(Step::Shoot { key }) = capture.step(now) else {
            panic!("there is always something to film");
        };
        capture.pace.shot(now, Some(&frame(0, key)), PLACE);
        keys.extend(key.then_some(n));
    }
    assert_eq!(keys, [0, 50]);
}
