//! What `deskhand doctor` finds.

use serde_json::Value;

use crate::program::Place;

fn report(place: &Place) -> (Option<i32>, Value) {
    let ended = place.run(&["doctor", "--json"]);
    let report = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
    (ended.code, report)
}

fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("nothing is said about {name}: {report:#}"))
}

#[test]
fn every_check_has_a_name_a_state_and_a_way_out() {
    let (code, report) = report(&Place::new().with("DESKHAND_LISTEN", "127.0.0.1:0"));
    let checks = report["checks"].as_array().unwrap();
    assert!(checks.len() > 8, "{report:#}");
    for check in checks {
        assert!(
            check["name"].is_string() && check["detail"].is_string(),
            "{check:#}"
        );
        let state = check["state"].as_str().unwrap();
        assert!(["ok", "warning", "missing"].contains(&state), "{check:#}");
        assert_eq!(
            state == "missing",
            state == "missing" && check["remedy"].is_string()
        );
    }
    let is_well = checks.iter().all(|check| check["state"] != "missing");
    assert_eq!(report["ok"], is_well);
    assert_eq!(code, Some(i32::from(!is_well)));
}

#[test]
fn a_port_in_use_is_found() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (code, report) = report(&Place::new().with("DESKHAND_LISTEN", &address));
    assert_eq!(check(&report, "port")["state"], "missing");
    assert_eq!(code, Some(1));
}

#[test]
fn a_data_folder_that_cannot_be_written_is_found() {
    let place = Place::new();
    let file = place.write("occupied", "");
    let place = place
        .with("DESKHAND_DATA_DIR", &file)
        .with("DESKHAND_LISTEN", "127.0.0.1:0");
    let (code, report) = report(&place);
    assert_eq!(check(&report, "data folder")["state"], "missing");
    assert_eq!(code, Some(1));
}

#[test]
fn a_server_that_runs_as_root_gets_a_warning_with_a_remedy() {
    let (_, report) = report(&Place::new().with("DESKHAND_LISTEN", "127.0.0.1:0"));
    let check = check(&report, "user");
    if rustix::process::geteuid().is_root() {
        assert_eq!(check["state"], "warning");
        let remedy = check["remedy"].as_str().unwrap();
        assert!(remedy.contains("deploy/deskhand.service"), "{remedy}");
    } else {
        assert_eq!(check["state"], "ok");
    }
}

#[test]
fn the_disk_limit_is_shown_with_how_it_is_enforced() {
    let place = || Place::new().with("DESKHAND_LISTEN", "127.0.0.1:0");
    let detail = |place: Place| {
        let (_, report) = report(&place);
        let detail = check(&report, "disk limit")["detail"].as_str().unwrap();
        detail.to_owned()
    };
    let by_default = detail(place());
    let is_known = by_default.contains("by an image") || by_default.contains("by a watcher");
    assert!(is_known, "{by_default}");
    let watched = detail(place().with("DESKHAND_SANDBOX_DISK_QUOTA", "watched"));
    assert!(watched.contains("by a watcher"), "{watched}");
}

#[test]
fn previews_and_vs_code_are_checked() {
    let place = || Place::new().with("DESKHAND_LISTEN", "127.0.0.1:0");
    let (code, local) = report(&place().with("DESKHAND_APPS_CODE_SERVER", "/nowhere"));
    assert_eq!(check(&local, "previews")["state"], "ok");
    assert_eq!(check(&local, "VS Code")["state"], "warning");
    assert_eq!(check(&local, "VS Code")["remedy"], "scripts/setup code");
    let (also, public) = report(&place().with("DESKHAND_PUBLIC_URL", "https://desk.example"));
    assert_eq!(check(&public, "previews")["state"], "warning");
    // Both are optional.
    assert_eq!(code, also);
}
