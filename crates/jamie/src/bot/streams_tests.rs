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
