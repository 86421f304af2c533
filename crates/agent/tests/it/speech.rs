//! What the model says and what commands print, on their way into the log.

use std::time::Duration;

use deskhand_core::{
    event::EventBody,
    model::{Chunk, End},
    shell::ShellEnding,
};
use insta::assert_snapshot;

use crate::{
    fakes::{Beat, FakeSandbox, Reaction, printed},
    stage::{Stage, calls, ending, runs, says},
};

fn word(text: &str) -> [Beat; 2] {
    [
        Beat::Pause(Duration::from_millis(30)),
        Beat::Say(Chunk::Text(text.to_owned())),
    ]
}

#[tokio::test(start_paused = true)]
async fn words_are_put_together_and_written_ten_times_a_second() {
    let mut answer = vec![
        Beat::Say(Chunk::ThinkingStart),
        Beat::Say(Chunk::Thinking("Let me ".to_owned())),
        Beat::Say(Chunk::Thinking("see.".to_owned())),
        Beat::Say(Chunk::TextStart),
    ];
    answer.extend(
        ["one ", "two ", "three ", "four ", "five ", "six"]
            .iter()
            .flat_map(|text| word(text)),
    );
    answer.push(Beat::Say(Chunk::TextStart));
    answer.extend(word("Another block."));
    answer.push(Beat::Say(Chunk::End(End::Done)));
    let stage = Stage::new(vec![answer]);
    let report = stage.run().await;
    assert_snapshot!(stage.story(), @r#"
    thinking 0 "Let me see."
    -
    text 1 "one two three four "
    -
    text 1 "five six"
    -
    text 2 "Another block."
    whole 1
    "#);
    assert_snapshot!(ending(&report), @"
    done: one two three four five six

    Another block. (steps: 1)
    ");
}

#[tokio::test(start_paused = true)]
async fn words_do_not_wait_for_the_next_ones() {
    let stage = Stage::new(vec![vec![
        Beat::Say(Chunk::Text("Wait…".to_owned())),
        Beat::Hang,
    ]]);
    let started = tokio::time::Instant::now();
    tokio::join!(stage.run(), async {
        stage.log.until("text").await;
        assert_eq!(started.elapsed().as_millis(), 100);
        stage.stop.cancel();
    });
}

#[tokio::test(start_paused = true)]
async fn blocks_are_counted_over_the_whole_turn() {
    let mut first = says("I look.");
    first.pop();
    first.insert(0, Beat::Say(Chunk::Thinking("Hm.".to_owned())));
    // A block without a word has no number.
    first.push(Beat::Say(Chunk::ThinkingStart));
    first.extend(calls(vec![runs("ls")]));
    let stage = Stage::new(vec![first, says("I saw.")]);
    stage.run().await;
    assert_snapshot!(stage.story(), @r#"
    thinking 0 "Hm."
    -
    text 1 "I look."
    -
    use a bash {"command":"ls","shell":"run"}
    whole 1
    -
    result a "output"
    -
    text 2 "I saw."
    whole 2
    "#);
}

#[tokio::test(start_paused = true)]
async fn output_is_shown_while_the_command_runs() {
    let ms = Duration::from_millis;
    let pieces = vec![
        (ms(10), &b"Gr\xc3"[..]),
        (ms(50), b"\xbc\xc3\x9fe\n"),
        (ms(100), b"\xe8\xb0"),
        (ms(500), b"\xa2"),
        (ms(10), b"too late to be shown apart"),
    ];
    let output = printed("Grüße\n谢…", ShellEnding::Exited { code: 0 });
    let computer = FakeSandbox::new(vec![Reaction::Print(pieces, output)]);
    let stage = Stage::with_computers(vec![calls(vec![runs("x")]), says("Done.")], vec![computer]);
    stage.run().await;
    assert_snapshot!(stage.story(), @r#"
    use a bash {"command":"x","shell":"run"}
    whole 1
    -
    partial result a "Grüße\n"
    -
    result a "Grüße\n谢…"
    -
    text 0 "Done."
    whole 2
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_output_does_not_flood_the_log() {
    static LINE: [u8; 8192] = [b'x'; 8192];
    let pieces = vec![(Duration::from_millis(150), &LINE[..]); 40];
    let output = printed("x", ShellEnding::Exited { code: 0 });
    let computer = FakeSandbox::new(vec![Reaction::Print(pieces, output)]);
    let stage = Stage::with_computers(
        vec![calls(vec![runs("yes")]), says("Done.")],
        vec![computer],
    );
    stage.run().await;
    let bodies = stage.log.bodies();
    let n_shown_bytes: usize = bodies.iter().map(n_partial_bytes).sum();
    assert_eq!(n_shown_bytes, 64 * 1024);
}

fn n_partial_bytes(body: &EventBody) -> usize {
    if let EventBody::ToolResult(result) = body
        && result.partial
    {
        return result.text.len();
    }
    0
}
