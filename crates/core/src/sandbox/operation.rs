//! The list of operations that a computer carries out.
//!
//! An operation is a type with a known reply type. [`operations!`] declares all of them once and generates the enums
//! that cross object-safe traits and the wire.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::clipboard::{ClipboardRead, ClipboardSet, ReadClipboard, SetClipboard};
use super::operations::{
    Act, Acted, CoverSecrets, Edited, ElementFound, FilePut, FileTaken, FindElement, FindField,
    Frame, Look, PutFile, SecretTyped, SecretsCovered, TakeFile, TypeSecret,
};
use super::terminals::{
    KillTerminal, ListTerminals, OpenTerminal, RenameTerminal, TerminalFound, TerminalList,
    TerminalOpened,
};
use crate::{
    browser::{Browse, Browsed},
    edit::EditCommand,
    file::{FileReply, FileRequest},
    shell::{ShellOutput, ShellRequest},
    vault::{FieldPlace, FillSecret, FindSecretField},
};

/// A set of operations, as the enums of all its requests and replies.
pub trait Vocabulary: Send + Sync + 'static {
    type Request: Send + std::fmt::Debug;
    type Reply: Send + std::fmt::Debug;
}

/// One operation of vocabulary `V`.
pub trait Operation<V: Vocabulary>: Send + 'static {
    type Reply: OperationReply;
    /// The operation's name in metrics.
    const NAME: &'static str;

    fn into_request(self) -> V::Request;

    fn wrap_reply(reply: Self::Reply) -> V::Reply;

    /// Returns this operation's reply, or `None` if the reply belongs to another operation.
    fn reply_of(reply: V::Reply) -> Option<Self::Reply>;
}

/// A reply, as far as the wire, redaction and metrics need to know it.
pub trait OperationReply: Send {
    /// Calls `visit` with every text that may repeat something from inside the sandbox, so that it can be redacted.
    fn for_each_text(&mut self, visit: &mut dyn FnMut(&mut String));

    /// Returns the bytes that are sent after the JSON instead of in it.
    fn attachment(&mut self) -> Option<&mut Bytes> {
        None
    }

    fn conclusion(&self) -> Conclusion {
        Conclusion::Done
    }
}

/// The way in which an operation with a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    Done,
    TimedOut,
    Cancelled,
}

/// The operations that a turn or a person asks for.
#[derive(Debug)]
pub struct ForSession;

/// The operations that a runner carries out.
#[derive(Debug)]
pub struct ForRunner;

impl Vocabulary for ForSession {
    type Request = SessionRequest;
    type Reply = SessionReply;
}

impl Vocabulary for ForRunner {
    type Request = RunnerRequest;
    type Reply = RunnerReply;
}

macro_rules! operations {
    (
        shared { $($(#[$shared_doc:meta])* $Shared:ident($SharedType:ty) -> $SharedReply:ty = $shared_name:literal,)* }
        session { $($(#[$session_doc:meta])* $Session:ident($SessionType:ty) -> $SessionReplyType:ty = $session_name:literal,)* }
        runner { $($(#[$runner_doc:meta])* $Runner:ident($RunnerType:ty) -> $RunnerReplyType:ty = $runner_name:literal,)* }
    ) => {
        vocabulary! {
            ForSession, SessionRequest, SessionReply,
            $($(#[$shared_doc])* $Shared($SharedType) -> $SharedReply = $shared_name,)*
            $($(#[$session_doc])* $Session($SessionType) -> $SessionReplyType = $session_name,)*
        }
        vocabulary! {
            ForRunner, RunnerRequest, RunnerReply,
            $($(#[$shared_doc])* $Shared($SharedType) -> $SharedReply = $shared_name,)*
            $($(#[$runner_doc])* $Runner($RunnerType) -> $RunnerReplyType = $runner_name,)*
        }

        /// An operation that no runner knows: the server translates it into another one.
        #[derive(Debug, Clone, PartialEq)]
        pub enum SessionOnly {
            $($(#[$session_doc])* $Session($SessionType),)*
        }

        impl SessionRequest {
            /// Returns the request for the runner, or the operation that the server has to translate into one.
            pub fn for_runner(self) -> Result<RunnerRequest, SessionOnly> {
                match self {
                    $(Self::$Shared(operation) => Ok(RunnerRequest::$Shared(operation)),)*
                    $(Self::$Session(operation) => Err(SessionOnly::$Session(operation)),)*
                }
            }
        }

        impl RunnerReply {
            /// Returns the reply for the session, or `None` if only the server requests this operation.
            pub fn for_session(self) -> Option<SessionReply> {
                match self {
                    $(Self::$Shared(reply) => Some(SessionReply::$Shared(reply)),)*
                    $(Self::$Runner(_) => None,)*
                }
            }
        }
    };
}

macro_rules! vocabulary {
    (
        $Vocabulary:ident, $Request:ident, $Reply:ident,
        $($(#[$doc:meta])* $Name:ident($Type:ty) -> $ReplyType:ty = $name:literal,)*
    ) => {
        /// Any request of the vocabulary.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $Request {
            $($(#[$doc])* $Name($Type),)*
        }

        /// Any reply of the vocabulary, named after its operation.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $Reply {
            $($Name($ReplyType),)*
        }

        impl $Request {
            /// Returns the operation's name in metrics.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$Name(_) => $name,)*
                }
            }
        }

        impl $Reply {
            fn inner(&self) -> &dyn OperationReply {
                match self {
                    $(Self::$Name(reply) => reply,)*
                }
            }

            fn inner_mut(&mut self) -> &mut dyn OperationReply {
                match self {
                    $(Self::$Name(reply) => reply,)*
                }
            }
        }

        impl OperationReply for $Reply {
            fn for_each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
                self.inner_mut().for_each_text(visit);
            }

            fn attachment(&mut self) -> Option<&mut Bytes> {
                self.inner_mut().attachment()
            }

            fn conclusion(&self) -> Conclusion {
                self.inner().conclusion()
            }
        }

        $(
            impl Operation<$Vocabulary> for $Type {
                type Reply = $ReplyType;
                const NAME: &'static str = $name;

                fn into_request(self) -> $Request {
                    $Request::$Name(self)
                }

                fn wrap_reply(reply: $ReplyType) -> $Reply {
                    $Reply::$Name(reply)
                }

                fn reply_of(reply: $Reply) -> Option<$ReplyType> {
                    if let $Reply::$Name(reply) = reply {
                        Some(reply)
                    } else {
                        None
                    }
                }
            }
        )*
    };
}

operations! {
    // A turn or a person requests these, and a runner carries them out.
    shared {
        Act(Act) -> Acted = "computer",
        Look(Look) -> Frame = "screenshot",
        Shell(ShellRequest) -> ShellOutput = "bash",
        Edit(EditCommand) -> Edited = "editor",
        PutFile(PutFile) -> FilePut = "file",
        OpenTerminal(OpenTerminal) -> TerminalOpened = "terminal",
        ListTerminals(ListTerminals) -> TerminalList = "terminal",
        RenameTerminal(RenameTerminal) -> TerminalFound = "terminal",
        KillTerminal(KillTerminal) -> TerminalFound = "terminal",
        Files(FileRequest) -> FileReply = "files",
        TakeFile(TakeFile) -> FileTaken = "share_file",
        ReadClipboard(ReadClipboard) -> ClipboardRead = "clipboard",
        SetClipboard(SetClipboard) -> ClipboardSet = "clipboard",
        Browse(Browse) -> Browsed = "browser",
        FindElement(FindElement) -> ElementFound = "find_element",
    }
    // A turn or a person requests these, and the server translates them into others.
    session {
        FindSecretField(FindSecretField) -> FieldPlace = "find_field",
        FillSecret(FillSecret) -> SecretTyped = "fill_secret",
    }
    // The server requests these from a runner.
    runner {
        FindField(FindField) -> FieldPlace = "find_field",
        TypeSecret(TypeSecret) -> SecretTyped = "fill_secret",
        CoverSecrets(CoverSecrets) -> SecretsCovered = "guard",
    }
}

impl RunnerRequest {
    /// Returns true if it only reads what everybody in the session may see. It is allowed regardless of the lease.
    pub fn is_for_everyone(&self) -> bool {
        matches!(self, Self::ListTerminals(_))
    }

    /// Returns the bytes that are sent after the JSON instead of in it.
    pub fn attachment(&mut self) -> Option<&mut Bytes> {
        if let Self::PutFile(file) = self {
            Some(&mut file.bytes)
        } else {
            None
        }
    }
}
