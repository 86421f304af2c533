use super::*;

fn info() -> Arc<StreamInfo> {
    Arc::new(StreamInfo {
        session_id: Uuid::now_v7(),
        requester_id: Some(7),
        guild_id: 1,
        channel_id: 10,
        names: StreamNames {
            channel_name: "Movies".into(),
            guild_name: "Friends".into(),
            url: "https://youtu.be/a".into(),
        },
    })
}

#[test]
fn there_is_one_stream_at_a_time() {
    let streams = Streams::new(1);
    let first = info();
    let _reports = streams.claim(&first).unwrap();
    assert_eq!(streams.claim(&info()).unwrap_err(), first);
    streams.release(first.session_id);
    streams.claim(&info()).unwrap();
}

#[test]
fn news_move_a_stream_forward_only() {
    let streams = Streams::new(1);
    let stream = info();
    let id = stream.session_id;
    let reports = streams.claim(&stream).unwrap();
    for (news, state) in [
        (StreamState::Starting, StreamState::Starting),
        (StreamState::Streaming, StreamState::Streaming),
        (StreamState::Starting, StreamState::Streaming),
        (StreamState::Failed, StreamState::Failed),
        (StreamState::Ended, StreamState::Failed),
    ] {
        streams.report(id, Report::new(news));
        assert_eq!(reports.borrow().state, state);
    }
    assert!(streams.list().is_empty(), "a stream that failed makes room");
}

#[test]
fn a_link_stays_and_must_be_one() {
    let streams = Streams::new(1);
    let stream = info();
    let id = stream.session_id;
    let mut reports = streams.claim(&stream).unwrap();
    let with_link = |state, url: &str| Report {
        watch_url: Some(url.into()),
        ..Report::new(state)
    };
    streams.report(id, with_link(StreamState::Starting, "javascript:alert(1)"));
    assert_eq!(reports.borrow_and_update().watch_url, None);
    streams.report(
        id,
        with_link(StreamState::Streaming, "https://watch.example/x"),
    );
    streams.report(id, Report::new(StreamState::Streaming));
    let link = reports.borrow_and_update().watch_url.clone();
    assert_eq!(link.as_deref(), Some("https://watch.example/x"));
    // The same again is no news.
    streams.report(id, Report::new(StreamState::Streaming));
    assert!(!reports.has_changed().unwrap());
}

fn view(session_id: Uuid, watch_url: &str) -> SessionView {
    serde_json::from_value(serde_json::json!({
        "session_id": session_id, "status": "streaming", "url": "https://youtu.be/a", "guild_id": 1,
        "channel_id": 10, "channel_name": "Movies", "created_at": "2026-02-07T12:34:56Z", "watch_url": watch_url
    }))
    .unwrap()
}

#[test]
fn a_list_from_before_its_end_does_not_bring_a_stream_back() {
    let streams = Streams::new(1);
    let stream = info();
    let id = stream.session_id;
    let _reports = streams.claim(&stream).unwrap();
    let n_ended = streams.n_ended();
    streams.report(id, Report::new(StreamState::Ended));
    let listed = view(id, "https://watch.example/x");
    assert!(streams.adopt(&listed, n_ended).is_none());
    assert!(streams.list().is_empty());
    // The controller may know better: its answer was lost, or it was restarted.
    assert!(streams.adopt(&listed, streams.n_ended()).is_some());
}

#[test]
fn the_link_of_an_adopted_stream_must_be_one() {
    let streams = Streams::new(1);
    let odd = view(Uuid::now_v7(), "javascript:alert(1)");
    let (_, reports) = streams.adopt(&odd, 0).unwrap();
    assert_eq!(reports.borrow().watch_url, None);
}
