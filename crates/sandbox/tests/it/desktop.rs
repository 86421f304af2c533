//! Everything together: the real runner, X server, window manager and browser in a sandbox.

use std::{
    io::Cursor,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use deskhand_core::{
    blob::BlobFormat,
    id::SessionId,
    sandbox::{Actor, Call, ComputerExt, Lifecycle, Look, Sandbox, SandboxEnd, StreamTarget},
};
use deskhand_testkit::not_run;
use futures::StreamExt;

use crate::support::{World, example, run, said};

const START_PAGE_COLOUR: [u8; 3] = [0xf7, 0xf4, 0xee];

#[tokio::test]
async fn a_desktop_comes_up_paints_the_start_page_and_survives_its_own_death() {
    let world = World::with(|config| config.runner = example("runner"));
    world.sandboxes.sweep().await;
    let session = SessionId::new();

    let sandbox = start_and_paint(&world, session).await;
    browser_has_its_own_sandbox(&*sandbox).await;
    let mut screen = sandbox
        .open(StreamTarget::Screen, Actor::Agent)
        .await
        .unwrap();
    assert_eq!(
        screen.incoming.next().await,
        Some(Bytes::from("RFB 003.008\n"))
    );
    drop(screen);
    let is_planted = plant_settings(&*sandbox).await;
    // This is as abrupt as possible: the browser cannot shut down properly.
    sandbox.stop().await;

    let again = start_and_paint(&world, session).await;
    if is_planted {
        planted_settings_are_not_used(&*again).await;
    } else {
        not_run("gcc is not installed, so no settings were planted for the browser");
    }
    // Xvnc ends, and with it the desktop.
    run(&*again, "pkill -9 Xvnc; sleep 10").await.unwrap_err();
    let SandboxEnd::Died(cause) = again.ended().await else {
        panic!("it did not die");
    };
    println!("{cause}");
    assert!(cause.contains("X server"), "{cause}");
    world.end().await;
}

async fn start_and_paint(world: &World, session: SessionId) -> Arc<dyn Sandbox> {
    let begin = Instant::now();
    let sandbox = world.start(session).await;
    let ready = begin.elapsed();
    let deadline = begin + Duration::from_secs(60);
    let picture = loop {
        let picture = look(&*sandbox).await;
        if share_of(&picture, START_PAGE_COLOUR) > 0.8 {
            break picture;
        }
        if Instant::now() > deadline {
            let path = std::env::temp_dir().join("deskhand-not-painted.png");
            std::fs::write(&path, &picture).unwrap();
            panic!("the start page is not there: {}", path.display());
        }
        // Polling without a pause would take the processor from the browser.
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let painted = begin.elapsed();
    println!(
        "ready {ready:?}, painted {painted:?}, {} bytes",
        picture.len()
    );
    if let Some(dir) = std::env::var_os("DESKHAND_TEST_PICTURES") {
        let name = format!("desktop-{}.png", painted.as_millis());
        std::fs::write(std::path::Path::new(&dir).join(name), &picture).unwrap();
    }
    sandbox
}

async fn look(sandbox: &dyn Sandbox) -> Bytes {
    let look = Look {
        format: BlobFormat::Png,
        shown: None,
    };
    let frame = sandbox.perform(Call::by(Actor::Agent), look).await;
    frame.unwrap().bytes
}

fn share_of(picture: &[u8], colour: [u8; 3]) -> f32 {
    let mut reader = png::Decoder::new(Cursor::new(picture)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let pixels = pixels[..info.buffer_size()].chunks(info.color_type.samples());
    let n_pixels = pixels.len();
    let n_same = pixels.filter(|pixel| pixel.starts_with(&colour)).count();
    n_same as f32 / n_pixels as f32
}

/// Leaves settings in the home that would make programs load code of the agent at their next start. Returns false if
/// there is no compiler.
async fn plant_settings(sandbox: &dyn Sandbox) -> bool {
    let plant = r#"command -v gcc > /dev/null || { echo no; exit; }
        cd; mkdir -p .config/gtk-3.0 .config/gtk-4.0 .local/share
        cat > evil.c <<'END'
#include <fcntl.h>
#include <stdlib.h>
__attribute__((constructor)) static void run(void) { creat("/home/agent/loaded", 0600); }
void gtk_module_init(int *n, char ***words) {}
END
        gcc -shared -fPIC -o evil.so evil.c
        for folder in gtk-3.0 gtk-4.0; do
            printf '[Settings]\ngtk-modules=/home/agent/evil.so\n' > .config/$folder/settings.ini
        done
        echo yes"#;
    said(sandbox, plant).await == "yes"
}

/// Checks that the browser, whose word the origin of a page is, takes no settings from the home.
async fn planted_settings_are_not_used(sandbox: &dyn Sandbox) {
    let browser = "$(pgrep -of -- --remote-debugging-pipe)";
    let toolkit = format!("grep -c libgtk /proc/{browser}/maps; true");
    let n_toolkit = said(sandbox, &toolkit).await;
    println!("the browser has {n_toolkit} parts of the toolkit in memory");
    let loaded = "test ! -e ~/loaded && echo not loaded";
    assert_eq!(said(sandbox, loaded).await, "not loaded");
    // Nobody can write where it looks instead.
    let written = "(mkdir -p /run/deskhand/browser/gtk-3.0) 2>/dev/null && echo could; true";
    assert_eq!(said(sandbox, written).await, "");
}

/// Checks that a renderer runs under a filter of system calls and in its own user namespace.
async fn browser_has_its_own_sandbox(sandbox: &dyn Sandbox) {
    let renderer = "$(pgrep -f -- --type=renderer | head -1)";
    let status = said(sandbox, &format!("grep Seccomp: /proc/{renderer}/status")).await;
    assert_eq!(status, "Seccomp:\t2");
    let flags = said(sandbox, "pgrep -fc -- --no-sandbox; true").await;
    assert_eq!(flags, "0");
}
