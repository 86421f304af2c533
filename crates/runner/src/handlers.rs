//! The handler of each operation.

use std::sync::{Arc, Mutex, PoisonError};

use deskhand_core::{
    browser::{Browse, Browsed},
    edit::EditCommand,
    file::{FileReply, FileRequest},
    sandbox::{
        Act, Acted, ClipboardRead, ClipboardSet, CoverSecrets, Edited, ElementFound, FilePut,
        FindElement, FindField, ForRunner, Frame, Look, Operation, PutFile, ReadClipboard,
        SecretTyped, SecretsCovered, SetClipboard, TakeFile, TypeSecret,
    },
    shell::{ShellOutput, ShellRequest},
    vault::FieldPlace,
};
use futures::{FutureExt, future::BoxFuture};
use tokio_util::sync::CancellationToken;

use crate::{
    desktop::{ActError, BrowseError},
    editor::Editor,
    files,
    put_file::put_file,
    shell::{OnOutput, ShellError, Shells},
    surface::Surface,
    terminals::Terminals,
};

/// The parts of the computer that handlers use. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    pub(crate) surface: Surface,
    pub(crate) shells: Shells,
    pub(crate) terminals: Terminals,
    editor: Arc<Mutex<Editor>>,
}

/// The queue of an operation. Operations of one lane run in order of arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    Actions,
    Commands,
    Files,
    /// Runs at once, concurrently with everything else.
    None,
}

/// The context of one run of an operation.
pub(crate) struct HandlerContext {
    pub(crate) cancel: CancellationToken,
    /// Sends pieces of output to the caller.
    pub(crate) on_output: OnOutput,
}

/// Reasons why an operation has no reply.
#[derive(Debug)]
pub(crate) enum HandlerError {
    Cancelled,
    Failed(Box<dyn std::error::Error + Send + Sync>),
}

/// A future with the reply of operation `O`.
pub(crate) type Handling<O> =
    BoxFuture<'static, Result<<O as Operation<ForRunner>>::Reply, HandlerError>>;

/// Carries out one kind of operation.
pub(crate) trait Handler: Operation<ForRunner> {
    const LANE: Lane;
    /// True if it changes files on a blocking thread, which cannot be interrupted. A change of control waits for it.
    const CHANGES_FILES: bool = false;

    fn handle(self, parts: Parts, context: HandlerContext) -> Handling<Self>
    where
        Self: Sized;
}

impl Parts {
    pub(crate) fn new(surface: Surface, shells: Shells, terminals: Terminals) -> Self {
        Self {
            surface,
            shells,
            terminals,
            editor: Arc::default(),
        }
    }
}

impl Handler for Act {
    const LANE: Lane = Lane::Actions;

    fn handle(self, parts: Parts, context: HandlerContext) -> Handling<Self> {
        async move {
            let surface = parts.surface;
            let acted = surface.act(&self.action, self.look, self.shown, context.cancel);
            Ok::<Acted, _>(acted.await?)
        }
        .boxed()
    }
}

impl Handler for Look {
    const LANE: Lane = Lane::None;

    fn handle(self, parts: Parts, _context: HandlerContext) -> Handling<Self> {
        async move { Ok::<Frame, _>(parts.surface.look(self.format, self.shown).await?) }.boxed()
    }
}

impl Handler for FindField {
    const LANE: Lane = Lane::Actions;

    fn handle(self, parts: Parts, _context: HandlerContext) -> Handling<Self> {
        async move { Ok::<FieldPlace, _>(parts.surface.find_field().await?) }.boxed()
    }
}

impl Handler for FindElement {
    const LANE: Lane = Lane::Actions;

    fn handle(self, parts: Parts, _context: HandlerContext) -> Handling<Self> {
        async move {
            let element = parts.surface.find_element(&self.at).await;
            Ok(ElementFound { element })
        }
        .boxed()
    }
}

impl Handler for TypeSecret {
    const LANE: Lane = Lane::Actions;

    fn handle(self, parts: Parts, context: HandlerContext) -> Handling<Self> {
        async move {
            parts.surface.fill(&self.filling, context.cancel).await?;
            Ok(SecretTyped)
        }
        .boxed()
    }
}

impl Handler for CoverSecrets {
    const LANE: Lane = Lane::None;

    /// Covers the values before it returns, so that no later request can see them.
    fn handle(self, parts: Parts, _context: HandlerContext) -> Handling<Self> {
        parts.surface.cover(self.values);
        futures::future::ready(Ok(SecretsCovered)).boxed()
    }
}

impl Handler for ReadClipboard {
    const LANE: Lane = Lane::None;

    fn handle(self, parts: Parts, _context: HandlerContext) -> Handling<Self> {
        async move { Ok::<ClipboardRead, _>(parts.surface.read_clipboard().await?) }.boxed()
    }
}

impl Handler for SetClipboard {
    const LANE: Lane = Lane::Actions;

    fn handle(self, parts: Parts, _context: HandlerContext) -> Handling<Self> {
        async move {
            parts.surface.set_clipboard(self.text).await?;
            Ok(ClipboardSet)
        }
        .boxed()
    }
}

impl Handler for Browse {
    const LANE: Lane = Lane::Actions;

    fn handle(self, parts: Parts, context: HandlerContext) -> Handling<Self> {
        async move { Ok::<Browsed, _>(parts.surface.browse(&self, context.cancel).await?) }.boxed()
    }
}

impl Handler for ShellRequest {
    const LANE: Lane = Lane::Commands;

    fn handle(self, parts: Parts, context: HandlerContext) -> Handling<Self> {
        async move {
            let output = parts
                .shells
                .perform(self, context.on_output, context.cancel)
                .await;
            Ok::<ShellOutput, _>(output?)
        }
        .boxed()
    }
}

impl Handler for EditCommand {
    const LANE: Lane = Lane::Files;
    const CHANGES_FILES: bool = true;

    fn handle(self, parts: Parts, _context: HandlerContext) -> Handling<Self> {
        let editor = parts.editor;
        blocking(move || {
            // The editor stays consistent even if an edit panicked.
            let mut editor = editor.lock().unwrap_or_else(PoisonError::into_inner);
            editor.perform(&self).map(|text| Edited { text })
        })
    }
}

impl Handler for PutFile {
    const LANE: Lane = Lane::Files;
    const CHANGES_FILES: bool = true;

    fn handle(self, _parts: Parts, _context: HandlerContext) -> Handling<Self> {
        blocking(move || -> Result<FilePut, _> { put_file(&self) })
    }
}

impl Handler for FileRequest {
    const LANE: Lane = Lane::None;
    const CHANGES_FILES: bool = true;

    fn handle(self, _parts: Parts, context: HandlerContext) -> Handling<Self> {
        blocking(move || -> Result<FileReply, std::convert::Infallible> {
            Ok(files::perform(&self, &context.cancel))
        })
    }
}

impl Handler for TakeFile {
    const LANE: Lane = Lane::Files;

    fn handle(self, _parts: Parts, _context: HandlerContext) -> Handling<Self> {
        blocking(move || files::take(&self))
    }
}

fn blocking<T, E>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> BoxFuture<'static, Result<T, HandlerError>>
where
    T: Send + 'static,
    E: std::error::Error + Send + Sync + 'static,
{
    async move {
        match tokio::task::spawn_blocking(work).await {
            Ok(done) => done.map_err(HandlerError::failed),
            Err(panicked) => Err(HandlerError::failed(panicked)),
        }
    }
    .boxed()
}

impl HandlerError {
    pub(crate) fn failed(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Failed(Box::new(error))
    }
}

impl From<ActError> for HandlerError {
    fn from(error: ActError) -> Self {
        if let ActError::Cancelled = error {
            Self::Cancelled
        } else {
            Self::failed(error)
        }
    }
}

impl From<BrowseError> for HandlerError {
    fn from(error: BrowseError) -> Self {
        if let BrowseError::Cancelled = error {
            Self::Cancelled
        } else {
            Self::failed(error)
        }
    }
}

impl From<ShellError> for HandlerError {
    fn from(error: ShellError) -> Self {
        if let ShellError::Cancelled = error {
            Self::Cancelled
        } else {
            Self::failed(error)
        }
    }
}
