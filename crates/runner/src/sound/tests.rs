//! The sound card with a real PulseAudio.

use deskhand_testkit::{eventually, not_run};
use pulseaudio::{
    AsPlaybackSource, Client,
    protocol::{
        ChannelMap, ChannelVolume, Command, LoadModuleParams, PlaybackStreamParams, SampleFormat,
        SampleSpec,
    },
};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::time::Instant;

use super::*;

/// A sound card in a folder of its own.
struct Stage {
    card: SoundCard,
    tasks: Tasks,
    _notices: mpsc::Receiver<String>,
    _folder: TempDir,
}

impl Stage {
    /// Opens a card, unless PulseAudio is not installed.
    fn open() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let (sender, notices) = mpsc::channel(4);
        let tasks = Tasks::default();
        let card = SoundCard::open(ComputerKind::Desktop, folder.path(), &tasks, sender);
        if card.is_none() {
            not_run("PulseAudio is not installed");
        }
        Some(Self {
            card: card?,
            tasks,
            _notices: notices,
            _folder: folder,
        })
    }

    /// Plays a tone until the returned client is dropped, as any program would.
    async fn play(&self) -> (Client, pulseaudio::PlaybackStream) {
        let path = self.card.0.path.clone();
        let client = tokio::task::spawn_blocking(move || {
            let socket = std::os::unix::net::UnixStream::connect(path).unwrap();
            Client::new_unix(c"a player", socket, Some([0; 256])).unwrap()
        });
        let client = client.await.unwrap();
        let params = PlaybackStreamParams {
            sample_spec: SampleSpec {
                format: SampleFormat::S16Le,
                channels: 2,
                sample_rate: 48_000,
            },
            channel_map: ChannelMap::stereo(),
            cvolume: Some(ChannelVolume::norm(2)),
            ..PlaybackStreamParams::default()
        };
        let mut n_samples = 0_u32;
        let tone = move |bytes: &mut [u8]| {
            for frame in bytes.chunks_exact_mut(4) {
                // A square wave of 480 Hz.
                let sample: i16 = if n_samples % 100 < 50 { 6000 } else { -6000 };
                frame[..2].copy_from_slice(&sample.to_le_bytes());
                frame[2..].copy_from_slice(&sample.to_le_bytes());
                n_samples = (n_samples + 1) % 100;
            }
            bytes.len() / 4 * 4
        };
        let stream = client.create_playback_stream(params, tone.as_playback_source());
        let stream = stream.await.unwrap();
        (client, stream)
    }

    async fn end(self) {
        self.tasks.shutdown().cancel();
        assert!(self.tasks.end(Duration::from_secs(60)).await);
    }
}

/// Waits for a tenth of a second in which the tone is as it was played. On a busy machine, others have gaps.
async fn hear_tone(client: &mut PulseClient, channel: u32) {
    let mut crossings = Vec::new();
    let mut samples: Vec<i16> = Vec::new();
    // A tenth has 96 zero crossings, and the ones at its ends may be missing.
    while !crossings.last().is_some_and(|n| (94..=98).contains(n)) {
        assert!(crossings.len() < 200, "{crossings:?}");
        while samples.len() < 4800 {
            let bytes = client.next_sound(channel).await.unwrap();
            let left = bytes
                .chunks_exact(4)
                .map(|it| i16::from_le_bytes([it[0], it[1]]));
            samples.extend(left.skip_while(|sample| *sample == 0));
        }
        let pairs = samples[..4800].windows(2);
        crossings.push(pairs.filter(|pair| (pair[0] < 0) != (pair[1] < 0)).count());
        samples.drain(..4800);
    }
}

#[tokio::test]
async fn pulseaudio_starts_with_the_first_program_and_its_sound_is_captured() {
    let Some(stage) = Stage::open() else { return };
    assert_eq!(stage.card.process(), None, "nobody has connected");
    let mut capture = stage.card.capture().await.unwrap();
    assert!(stage.card.process().is_some());
    let _player = stage.play().await;
    let mut n_frames = 0;
    while n_frames < 25 {
        n_frames += capture.next_frames().await.unwrap().len();
    }
    let mut recorder = PulseClient::connect(stage.card.dial().await.unwrap())
        .await
        .unwrap();
    let channel = recorder.record(daemon::MONITOR).await.unwrap();
    hear_tone(&mut recorder, channel).await;
    stage.end().await;
}

#[tokio::test]
async fn programs_that_record_are_cut_off_and_those_who_listen_are_not() {
    let Some(stage) = Stage::open() else { return };
    assert_eq!(stage.card.cut_off_recorders().await, Recorders::None);
    assert_eq!(stage.card.process(), None, "there was nothing to cut off");
    let _player = stage.play().await;
    let mut capture = stage.card.capture().await.unwrap();
    let mut spy = PulseClient::connect(stage.card.dial().await.unwrap())
        .await
        .unwrap();
    let channel = spy.record(daemon::MONITOR).await.unwrap();
    spy.next_sound(channel).await.unwrap();
    let pid = stage.card.process();
    // Without the timeout after which PulseAudio is ended: a machine that runs tests is busy.
    let recorders = stage.card.kill_recorders().await.unwrap();
    assert_eq!(recorders, Recorders::Found);
    let end = loop {
        if let Err(end) = spy.next_sound(channel).await {
            break end;
        }
    };
    assert!(matches!(end, PulseClientError::Killed), "{end:?}");
    capture.next_frames().await.unwrap();
    let recorders = stage.card.kill_recorders().await.unwrap();
    assert_eq!(recorders, Recorders::None, "only one who listens is left");
    assert_eq!(stage.card.process(), pid, "PulseAudio goes on");
    stage.end().await;
}

#[tokio::test]
async fn sound_is_in_no_memory_that_other_programs_can_map() {
    let Some(stage) = Stage::open() else { return };
    let _player = stage.play().await;
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", stage.card.process().unwrap().pid));
    let maps = maps.unwrap();
    let is_shared = |line: &&str| line.contains("memfd:") || line.contains("/dev/shm/");
    assert_eq!(maps.lines().find(is_shared), None);
    stage.end().await;
}

#[tokio::test]
async fn no_program_can_load_a_module() {
    let Some(stage) = Stage::open() else { return };
    let mut program = PulseClient::connect(stage.card.dial().await.unwrap())
        .await
        .unwrap();
    let load = Command::LoadModule(LoadModuleParams {
        name: c"module-null-sink".to_owned(),
        arguments: Some(c"sink_name=mine".to_owned()),
    });
    let refused = program.answer(load).await.unwrap_err();
    assert!(
        matches!(refused, PulseClientError::Refused(_)),
        "{refused:?}"
    );
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pulseaudio_starts_again_for_the_next_program() {
    let Some(stage) = Stage::open() else { return };
    let player = stage.play().await;
    let first = stage.card.process().unwrap();
    stage.card.0.end.notify_waiters();
    eventually("PulseAudio ends", || stage.card.process().is_none());
    drop(player);
    let _player = stage.play().await;
    assert!(stage.card.process().is_some_and(|second| second != first));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pulseaudio_that_a_program_ends_at_once_is_not_started_again_at_once() {
    let Some(stage) = Stage::open() else { return };
    let began = Instant::now();
    let player = stage.play().await;
    let pid = stage
        .card
        .process()
        .and_then(|it| Pid::from_raw(it.pid))
        .unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    eventually("PulseAudio ends", || stage.card.process().is_none());
    drop(player);
    let _player = stage.play().await;
    assert!(began.elapsed() >= daemon::MIN_LIFE);
    stage.end().await;
}

#[tokio::test]
async fn a_computer_without_a_screen_has_no_sound_card() {
    let folder = tempfile::tempdir().unwrap();
    let (sender, _notices) = mpsc::channel(1);
    let tasks = Tasks::default();
    let card = SoundCard::open(ComputerKind::Browser, folder.path(), &tasks, sender);
    assert!(card.is_none());
}
