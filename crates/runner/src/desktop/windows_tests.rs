use std::{collections::BTreeMap, time::Duration};

use deskhand_core::{action::ScreenSize, tasks::Tasks};
use tempfile::TempDir;
use tokio::sync::mpsc;
use x11rb::connection::Connection;

use super::*;
use crate::desktop::{BrowserSettings, Desktop, DesktopConfig};

#[tokio::test]
async fn a_window_that_closes_during_the_search_is_no_error() {
    let folder = TempDir::new().unwrap();
    let (tasks, (sender, _notices)) = (Tasks::default(), mpsc::channel(16));
    let config = DesktopConfig {
        screen: ScreenSize::default(),
        settle_quiet: Duration::from_millis(100),
        settle_max: Duration::from_secs(1),
        browser: Vec::new(),
        browser_settings: BrowserSettings::default(),
        runtime_dir: folder.path().join("run"),
        variables: BTreeMap::new(),
        browser_variables: BTreeMap::new(),
    };
    let desktop = Desktop::start(config, tasks.clone(), sender).await.unwrap();
    let searched = desktop.0.seat.run(|seat| {
        let gone = seat.connection.generate_id()?;
        let mut found = Vec::new();
        seat.find_browsers(gone, MAX_DEPTH, None, &[], &mut found)?;
        Ok((found, seat.window_name(gone)?))
    });
    assert_eq!(searched.await.unwrap(), (Vec::new(), None));
    tasks.shutdown().cancel();
    drop(desktop);
    assert!(tasks.end(Duration::from_secs(5)).await);
}
