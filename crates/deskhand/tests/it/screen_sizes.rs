//! Screens larger than the usual one.

use deskhand_core::event::EventBody;
use deskhand_testkit::Watcher;
use serde_json::json;

use crate::world::serve_set;

const START_PAGE: [u8; 3] = [0xf7, 0xf4, 0xee];

#[tokio::test]
async fn a_larger_screen_is_filled_watched_and_acted_on_to_its_edges() {
    for (width, height) in [(1280, 800), (1920, 1080), (2560, 1600)] {
        let (width_set, height_set) = (width.to_string(), height.to_string());
        let server = serve_set(
            &[],
            &[
                ("DESKHAND_SCREEN_WIDTH", &width_set),
                ("DESKHAND_SCREEN_HEIGHT", &height_set),
            ],
        );
        let session = server.client().new_session("scripted/demo").await;
        let mut watcher = Watcher::open(&session).await;
        assert_eq!(watcher.size(), (width, height));
        watcher.until((width - 2, height - 2), START_PAGE).await;

        let path = session.path("/actions");
        let click = |x: usize, y: usize| {
            let input = json!({"action": "click", "at": {"x": x, "y": y}});
            json!({"tool": "computer", "input": input, "look": true})
        };
        let corner = click(width - 1, height - 1);
        let clicked = session.client.post(&path, corner).await.good();
        let text = format!("Clicked at ({}, {}).", width - 1, height - 1);
        assert_eq!(clicked["text"], text);
        let is_picture = |body: &EventBody| matches!(body, EventBody::Screenshot(_));
        let EventBody::Screenshot(picture) = session.wait_for(0, is_picture).await.body else {
            unreachable!()
        };
        let size = (usize::from(picture.width), usize::from(picture.height));
        assert_eq!(size, (width, height));
        let outside = session.client.post(&path, click(width, 0)).await;
        assert_eq!((outside.status, &*outside.code()), (400, "bad_action"));
    }
}
