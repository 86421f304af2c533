use super::*;

fn places(total: usize, per_address: usize) -> Places {
    Places::new(ConnectionLimits {
        total,
        per_address,
        ..ConnectionLimits::NONE
    })
}

/// Ends a request and writes its response.
fn finish(place: &Place, request: InProgress) {
    drop(request);
    place.activity().written();
}

fn from(address: &str) -> AddressBlock {
    AddressBlock::of(address.parse().unwrap())
}

#[test]
fn the_connection_that_is_idle_for_longest_makes_room() {
    let places = places(3, 0);
    let first = places.enter(from("192.0.2.1")).unwrap();
    let second = places.enter(from("192.0.2.2")).unwrap();
    let third = places.enter(from("192.0.2.3")).unwrap();
    // The first has a request in progress, and the third had one meanwhile.
    let in_progress = first.activity().begin();
    finish(&third, third.activity().begin());
    let fourth = places.enter(from("192.0.2.4")).unwrap();
    let is_lost = |place: &Place| place.lost().is_cancelled();
    assert_eq!([&first, &second, &third].map(is_lost), [false, true, false]);
    finish(&first, in_progress);
    for _ in 0..2 {
        // Those that follow are idle too, but not for as long.
        std::mem::forget(places.enter(from("192.0.2.5")).unwrap());
    }
    assert_eq!([&first, &third, &fourth].map(is_lost), [false, true, true]);
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_a_request_makes_room_before_one_that_is_used_again() {
    let places = places(2, 0);
    let used = places.enter(from("192.0.2.1")).unwrap();
    finish(&used, used.activity().begin());
    let unused = places.enter(from("192.0.2.2")).unwrap();
    tokio::time::advance(FIRST_REQUEST_TIME).await;
    let new = places.enter(from("192.0.2.3")).unwrap();
    let is_lost = |place: &Place| place.lost().is_cancelled();
    assert_eq!([&used, &unused].map(is_lost), [false, true]);
    // The new one has had no time for a request yet.
    let newer = places.enter(from("192.0.2.4")).unwrap();
    assert_eq!([&used, &new, &newer].map(is_lost), [true, false, false]);
}

#[test]
fn a_flood_of_connections_without_a_request_makes_room_for_itself() {
    let places = places(4, 0);
    let used = places.enter(from("192.0.2.1")).unwrap();
    finish(&used, used.activity().begin());
    let flood: Vec<_> = (0..20)
        .map(|_| places.enter(from("192.0.2.2")).unwrap())
        .collect();
    assert!(!used.lost().is_cancelled());
    let n_lost = flood.iter().filter(|place| place.lost().is_cancelled());
    assert_eq!(n_lost.count(), 17);
}

#[test]
fn without_an_idle_connection_there_is_no_room() {
    let places = places(2, 0);
    let first = places.enter(from("192.0.2.1")).unwrap();
    let second = places.enter(from("192.0.2.1")).unwrap();
    let request = first.activity().begin();
    // A WebSocket is never idle.
    second.activity().begin().forever();
    assert!(places.enter(from("192.0.2.2")).is_none());
    drop(second);
    let third = places.enter(from("192.0.2.2")).unwrap();
    drop((request, third, first));
    assert!(places.table().per_address.is_empty() && places.table().idle.is_empty());
}

#[test]
fn one_address_has_only_its_share_and_the_loopback_most_of_it() {
    let places = places(8, 2);
    let mut busy = Vec::new();
    let mut enter = |address: &str| {
        let place = places.enter(from(address))?;
        place.activity().begin().forever();
        busy.push(place);
        Some(())
    };
    for _ in 0..2 {
        enter("2001:db8::1").unwrap();
    }
    assert_eq!(enter("2001:db8::2"), None, "the same network");
    enter("2001:db8:0:1::1").unwrap();
    for _ in 0..5 {
        enter("127.0.0.1").unwrap();
    }
    assert_eq!(enter("192.0.2.1"), None, "all places are taken");
}

#[test]
fn an_address_at_its_limit_takes_no_place_from_others() {
    let places = places(8, 1);
    let other = places.enter(from("192.0.2.1")).unwrap();
    let first = places.enter(from("192.0.2.2")).unwrap();
    let second = places.enter(from("192.0.2.2")).unwrap();
    assert!(!other.lost().is_cancelled() && first.lost().is_cancelled());
    second.activity().begin().forever();
    assert!(places.enter(from("192.0.2.2")).is_none());
}
