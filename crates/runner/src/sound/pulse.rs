//! A client of PulseAudio: as much of its native protocol as the runner needs.

use std::{ffi::CStr, io, time::Duration};

use bytes::{Buf, Bytes, BytesMut};
use deskhand_core::sound::{SOUND_CHANNELS, SOUND_RATE};
use pulseaudio::protocol::{
    self, AuthParams, AuthReply, ChannelMap, Command, CommandReply, CreateRecordStreamReply,
    DESCRIPTOR_SIZE, MAX_VERSION, Prop, Props, ProtocolError, RecordStreamParams, SampleFormat,
    SampleSpec, SetClientNameReply, SourceOutputInfo, TagStructReader,
    stream::{BufferAttr, StreamFlags},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    time::timeout,
};

use super::encoder::BYTES_PER_FRAME;

/// The timeout for an answer, and for beginning to record, which includes the start of PulseAudio. The server waits
/// longer, so that it hears the reason.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest message that is read. PulseAudio's lists have some kilobytes, and its sound comes in pieces.
const LONGEST_MESSAGE_BYTES: usize = 1024 * 1024;
/// The length of the password that every client sends. Ours is not checked, since only the sandbox reaches the socket.
const COOKIE_BYTES: usize = 256;
/// The channel of messages that are not sound.
const NO_CHANNEL: u32 = u32::MAX;
/// The frames that PulseAudio keeps for us. When we are slower, it drops sound.
const MOST_KEPT_FRAMES: u32 = 10;

/// Reasons why PulseAudio could not be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PulseClientError {
    #[error("could not reach PulseAudio")]
    Connect(#[from] io::Error),
    #[error("PulseAudio closed the connection")]
    Closed,
    #[error("PulseAudio did not answer within {} s", ANSWER_TIMEOUT.as_secs())]
    Silent,
    #[error("PulseAudio refused: {0:?}")]
    Refused(protocol::PulseError),
    #[error("PulseAudio sent a message of {0} bytes")]
    TooLong(usize),
    #[error("PulseAudio sent a message that cannot be parsed")]
    Protocol(#[from] ProtocolError),
    #[error("PulseAudio ended the recording")]
    Killed,
}

/// A connection to PulseAudio.
#[derive(Debug)]
pub(super) struct PulseClient {
    stream: UnixStream,
    unread: BytesMut,
    version: u16,
    n_sent: u32,
    /// The number that PulseAudio gave this connection.
    pub(super) number: u32,
}

/// One message of PulseAudio.
enum PulseMessage {
    Command(Bytes),
    Sound { channel: u32, bytes: Bytes },
}

impl PulseClient {
    /// Introduces the runner on a new connection.
    pub(super) async fn connect(stream: UnixStream) -> Result<Self, PulseClientError> {
        let mut client = Self {
            stream,
            unread: BytesMut::new(),
            version: MAX_VERSION,
            n_sent: 0,
            number: 0,
        };
        let auth = AuthParams {
            version: MAX_VERSION,
            // Sound is small, and comes over the socket.
            supports_shm: false,
            supports_memfd: false,
            cookie: vec![0; COOKIE_BYTES],
        };
        let welcome: AuthReply = client.ask(Command::Auth(auth)).await?;
        client.version = MAX_VERSION.min(welcome.version);
        let mut properties = Props::new();
        properties.set(Prop::ApplicationName, c"Deskhand");
        let named: SetClientNameReply = client.ask(Command::SetClientName(properties)).await?;
        client.number = named.client_id;
        Ok(client)
    }

    /// Begins to record a source in frames, and returns the channel on which they arrive.
    ///
    /// While nothing plays, PulseAudio suspends the source, and nothing arrives.
    pub(super) async fn record(&mut self, source: &CStr) -> Result<u32, PulseClientError> {
        let frame_bytes = u32::try_from(BYTES_PER_FRAME).unwrap_or(u32::MAX);
        let params = RecordStreamParams {
            sample_spec: SampleSpec {
                format: SampleFormat::S16Le,
                channels: SOUND_CHANNELS,
                sample_rate: SOUND_RATE,
            },
            channel_map: ChannelMap::stereo(),
            source_name: Some(source.to_owned()),
            buffer_attr: BufferAttr {
                max_length: MOST_KEPT_FRAMES * frame_bytes,
                fragment_size: frame_bytes,
                ..BufferAttr::default()
            },
            flags: StreamFlags {
                adjust_latency: true,
                no_inhibit_auto_suspend: true,
                no_move: true,
                start_muted: Some(false),
                ..StreamFlags::default()
            },
            ..RecordStreamParams::default()
        };
        let begun: CreateRecordStreamReply = self.ask(Command::CreateRecordStream(params)).await?;
        Ok(begun.channel)
    }

    /// Waits for the next piece of sound on a channel.
    pub(super) async fn next_sound(&mut self, of: u32) -> Result<Bytes, PulseClientError> {
        loop {
            match self.receive().await? {
                PulseMessage::Sound { channel, bytes } if channel == of => return Ok(bytes),
                PulseMessage::Sound { .. } => {}
                PulseMessage::Command(body) => {
                    let command = Command::read_tag_prefixed(&mut &body[..], self.version);
                    if matches!(command, Ok((_, Command::RecordStreamKilled(_)))) {
                        return Err(PulseClientError::Killed);
                    }
                }
            }
        }
    }

    /// Returns everything that records.
    pub(super) async fn recorders(&mut self) -> Result<Vec<SourceOutputInfo>, PulseClientError> {
        self.ask(Command::GetSourceOutputInfoList).await
    }

    /// Cuts off something that records. It may have ended already.
    pub(super) async fn kill_recorder(&mut self, number: u32) -> Result<(), PulseClientError> {
        match self.answer(Command::KillSourceOutput(number)).await {
            Err(PulseClientError::Refused(protocol::PulseError::NoEntity)) => Ok(()),
            answer => answer.map(drop),
        }
    }

    async fn ask<R: CommandReply>(&mut self, command: Command) -> Result<R, PulseClientError> {
        let version = self.version;
        let answer = self.answer(command).await?;
        let mut rest = &answer[..];
        Ok(TagStructReader::new(&mut rest, version).read()?)
    }

    /// Sends a command, and returns the rest of its answer, which depends on the command.
    pub(super) async fn answer(&mut self, command: Command) -> Result<Bytes, PulseClientError> {
        let number = self.n_sent;
        self.n_sent += 1;
        let mut message = Vec::new();
        protocol::write_command_message(&mut message, number, &command, self.version)?;
        let answered = async {
            self.stream.write_all(&message).await?;
            loop {
                let PulseMessage::Command(mut body) = self.receive().await? else {
                    continue;
                };
                let mut rest = &body[..];
                let (answers, command) = match Command::read_tag_prefixed(&mut rest, self.version) {
                    Ok(read) => read,
                    // An event that we have not asked for.
                    Err(_unknown) => continue,
                };
                if answers != number {
                    continue;
                }
                if let Command::Error(error) = command {
                    return Err(PulseClientError::Refused(error));
                }
                if let Command::Reply = command {
                    body.advance(body.len() - rest.len());
                    return Ok(body);
                }
            }
        };
        let answered = timeout(ANSWER_TIMEOUT, answered).await;
        answered.unwrap_or(Err(PulseClientError::Silent))
    }

    /// Reads one message. Nothing is lost if this is cancelled.
    async fn receive(&mut self) -> Result<PulseMessage, PulseClientError> {
        loop {
            if let Some(received) = self.take()? {
                return Ok(received);
            }
            if self.stream.read_buf(&mut self.unread).await? == 0 {
                return Err(PulseClientError::Closed);
            }
        }
    }

    /// Returns the next message, if all of it has arrived.
    fn take(&mut self) -> Result<Option<PulseMessage>, PulseClientError> {
        if self.unread.len() < DESCRIPTOR_SIZE {
            return Ok(None);
        }
        let head = protocol::read_descriptor(&mut &self.unread[..])?;
        let length = usize::try_from(head.length).unwrap_or(usize::MAX);
        if length > LONGEST_MESSAGE_BYTES {
            return Err(PulseClientError::TooLong(length));
        }
        if self.unread.len() < DESCRIPTOR_SIZE + length {
            return Ok(None);
        }
        self.unread.advance(DESCRIPTOR_SIZE);
        let body = self.unread.split_to(length).freeze();
        Ok(Some(match head.channel {
            NO_CHANNEL => PulseMessage::Command(body),
            channel => PulseMessage::Sound {
                channel,
                bytes: body,
            },
        }))
    }
}
