//! Typing: every character arrives, in order, on every layout.

use std::time::{Duration, Instant};

use deskhand_core::action::Action;
use deskhand_runner::desktop::ActError;
use rustix::process::Pid;
use tokio_util::sync::CancellationToken;

use super::world::{World, pids, told, until, untold};

/// A text field that keeps tabs and reports its content.
const FIELD: &str = "<textarea id=t style='width:900px;height:600px' autofocus></textarea><script>
    t.addEventListener('keydown', e => {
        if (e.key === 'Tab') { e.preventDefault(); t.setRangeText('\\t', t.selectionStart, t.selectionEnd, 'end'); tell(); }
    });
    let due = false;
    const tell = () => {
        if (!due) requestAnimationFrame(() => {
            due = false;
            say(`text ${t.value.length} ${told(t.value)}`);
        });
        due = true;
    };
    t.addEventListener('input', tell);
    t.addEventListener('copy', () => setTimeout(() => say('copied'), 50));
</script>";

/// Scripts and characters that are hard to type on any layout.
const SCRIPTS: [&str; 12] = [
    "The quick brown fox jumps over the lazy dog 0123456789",
    r##"!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~"##,
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich, œuvre, ñandú, Łódź, čeština, ğüşı",
    "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία ΑΒΓ",
    "Съешь же ещё этих мягких французских булок ЁЖЩ",
    "نص حكيم له سر قاطع",
    "דג סקרן שט בים",
    "いろはにほへと 漢字 カタカナ 한국어 中文字符",
    "नमस्ते ไทย e\u{301} — “quotes” … €£¥ ½ ∑∞≠",
    "emoji 😀 and 👩‍💻 and 🏳️‍🌈 then text 𝔘𝔫𝔦 end",
    "fn main() {\n\tif a < b && c > d {\n\t\tprintln!(\"{}\", x[0]); // ~`^\n\t}\n}\n",
    "aAbBcC111!!!   ...zz",
];

/// A little of each, for every layout.
const SAMPLE: &str = "The quick fox 0123456789 !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~\n\tö ß œ ñ Łó ş ι Ω Ж ё ع ד \
    ろカ字 한 न ไ e\u{301} — “” € ∞ 😀 👩‍💻 𝔘 end";

/// Waits until the field has a text of this length, and checks that it is this text.
async fn expect_field(world: &World, text: &str) {
    let length = text.encode_utf16().count();
    let told_text = told(text);
    let got = world.title_after(&format!("text {length} ")).await;
    assert_eq!(untold(&got), text);
    assert_eq!(got, told_text);
}

async fn clear(world: &World) {
    world.key("ctrl+a Delete").await;
    world.title("text 0").await;
}

#[tokio::test]
async fn every_script_arrives_on_the_usual_layout() {
    let world = World::with_page(FIELD).await;
    world.click(100, 100).await;
    for text in SCRIPTS {
        world.type_text(text).await;
    }
    expect_field(&world, &SCRIPTS.concat()).await;
    world.end().await;
}

#[tokio::test]
async fn every_script_arrives_on_other_layouts() {
    let world = World::with_page(FIELD).await;
    world.click(100, 100).await;
    for layout in [
        &["de"][..],
        &["fr"],
        &["ru"],
        &["gr"],
        &["us", "-variant", "dvorak-intl"],
        &["cz"],
        &["ara"],
        &["jp"],
    ] {
        world
            .run("setxkbmap", &[&["-layout"], layout].concat())
            .await;
        world.type_text(SAMPLE).await;
        expect_field(&world, SAMPLE).await;
        clear(&world).await;
    }
    world.end().await;
}

#[tokio::test]
async fn a_second_layout_group_and_caps_lock_change_nothing_and_stay() {
    let world = World::with_page(FIELD).await;
    world.click(100, 100).await;
    let group = ["-layout", "us,ru", "-option", "grp:shifts_toggle"];
    world.run("setxkbmap", &group).await;
    world.key("shift+Shift_R").await;
    world.key("Caps_Lock").await;
    world.type_text("Mixed Case and Кириллица").await;
    expect_field(&world, "Mixed Case and Кириллица").await;
    clear(&world).await;
    assert!(world.caps_lock_is_on(), "Caps Lock was switched off");
    world.end().await;
}

#[tokio::test]
async fn more_new_characters_than_there_are_spare_keys_arrive_and_do_not_keep_the_window_manager_busy()
 {
    let world = World::with_page(FIELD).await;
    world.click(100, 100).await;
    let openbox = pids("openbox", world.folder().to_str().unwrap())[0];
    let before = cpu_ms(openbox);
    let text: String = ('一'..='伏').collect();
    world.type_text(&text).await;
    expect_field(&world, &text).await;
    let used = cpu_ms(openbox) - before;
    assert!(used < 700, "it was at work for {used} ms");
    world.end().await;
}

/// Returns the processor time that a process has used.
fn cpu_ms(pid: Pid) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap();
    // After the name, which may contain anything, the 12th and the 13th field are the user time and the system
    // time, in hundredths of a second.
    let fields = stat.rsplit_once(") ").unwrap().1.split(' ');
    let ticks: u64 = fields
        .skip(11)
        .take(2)
        .map(|field| field.parse::<u64>().unwrap())
        .sum();
    ticks * 10
}

#[tokio::test]
async fn five_hundred_characters_arrive_quickly_and_completely() {
    let world = World::with_page(FIELD).await;
    world.click(100, 100).await;
    let text: String = "The quick, brown fox! Jumps over 13 lazy dogs? "
        .chars()
        .cycle()
        .take(500)
        .collect();
    // The goal is 60 ms. This allows for a very busy machine.
    const QUICK: Duration = Duration::from_secs(5);
    let mut times = Vec::new();
    while times.iter().all(|time| *time >= QUICK) {
        assert!(times.len() < 5, "{times:?}");
        let started = Instant::now();
        world.type_text(&text).await;
        expect_field(&world, &text).await;
        times.push(started.elapsed());
        clear(&world).await;
    }
    world.end().await;
}

#[tokio::test]
async fn the_clipboard_is_as_before_after_typing_emoji() {
    let world = World::with_page(FIELD).await;
    world.click(100, 100).await;
    world.type_text("precious").await;
    world.key("ctrl+a ctrl+c").await;
    world.title("copied").await;
    world.key("Right").await;
    world.type_text(" 🎉").await;
    expect_field(&world, "precious 🎉").await;
    clear(&world).await;
    world.key("ctrl+v").await;
    expect_field(&world, "precious").await;
    world.end().await;
}

#[tokio::test]
async fn a_terminal_gets_every_character_too() {
    let world = World::empty().await;
    let output = world.folder().join("typed.txt");
    let script = format!("cat > {}", output.display());
    let _xterm = world.open(
        "xterm",
        &["-u8", "-title", "cat", "-e", "sh", "-c", &script],
    );
    world.title("cat").await;
    world.click(300, 300).await;
    let text = "Grüße, Привет 漢字 😀 |end|\n";
    world.type_text(text).await;
    let typed = || std::fs::read_to_string(&output).unwrap_or_default();
    until("a whole line is typed", || typed().ends_with('\n')).await;
    assert_eq!(typed(), text);
    world.end().await;
}

#[tokio::test]
async fn what_cannot_be_typed_is_refused_before_anything_is_typed() {
    let world = World::with_page(FIELD).await;
    world.click(100, 100).await;
    let text = "before\u{7}after".to_owned();
    let error = world.act(Action::Type { text }).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the control character U+0007 cannot be typed"
    );
    world.type_text("x").await;
    expect_field(&world, "x").await;
    world.end().await;
}

#[tokio::test]
async fn typing_can_be_cancelled() {
    let world = World::with_page(FIELD).await;
    world.click(100, 100).await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let text = "never".to_owned();
    let typed = world
        .desktop
        .act(&Action::Type { text }, false, None, cancel)
        .await;
    assert!(matches!(typed, Err(ActError::Cancelled)), "{typed:?}");
    world.type_text("x").await;
    expect_field(&world, "x").await;
    world.end().await;
}
