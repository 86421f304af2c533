//! Reads and sets the clipboard for a person in control.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use deskhand_core::{
    sandbox::{ClipboardRead, LONGEST_CLIPBOARD_BYTES},
    secret::Secret,
};
use tokio::time::timeout;
use x11rb::{
    COPY_DEPTH_FROM_PARENT, CURRENT_TIME, NONE,
    connection::Connection,
    protocol::{
        Event,
        xproto::{
            Atom, AtomEnum, ConnectionExt as _, CreateWindowAux, EventMask, PropMode,
            SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent, WindowClass,
        },
    },
    rust_connection::RustConnection,
    wrapper::ConnectionExt as _,
};

use super::{
    ActError, Desktop,
    guard::GuardedValues,
    x::{Atoms, XError, connect},
};

/// The timeout for the program that owns the clipboard, which may be frozen.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);
const POLL_EVERY: Duration = Duration::from_millis(2);

/// The timeout for reading or setting the clipboard, after which the X server is considered stuck.
const CLIPBOARD_TIMEOUT: Duration = Duration::from_secs(10);

/// A text that a person put on the clipboard, and the window that owns it. The thread that reads the X server's events
/// answers programs that paste it. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct OwnClipboard(Arc<OwnClipboardParts>);

#[derive(Debug)]
struct OwnClipboardParts {
    connection: Arc<RustConnection>,
    window: u32,
    atoms: Atoms,
    text: Mutex<Option<Secret>>,
}

impl Desktop {
    /// Returns the text on the clipboard.
    pub async fn read_clipboard(&self) -> Result<ClipboardRead, ActError> {
        let (display, guarded) = (self.0.display.clone(), self.0.guarded.clone());
        let reading = tokio::task::spawn_blocking(move || read(&display, &guarded));
        match timeout(CLIPBOARD_TIMEOUT, reading).await {
            Ok(Ok(read)) => Ok(read?),
            // The runtime drops such work only while it shuts down.
            Ok(Err(_join)) => Err(ActError::Ended),
            Err(_elapsed) => Err(ActError::NoAnswer(CLIPBOARD_TIMEOUT)),
        }
    }

    /// Puts a text on the clipboard, from which programs can paste it.
    pub async fn set_clipboard(&self, text: Secret) -> Result<(), ActError> {
        let clipboard = self.0.events.clipboard.clone();
        let setting = tokio::task::spawn_blocking(move || clipboard.set(text));
        match timeout(CLIPBOARD_TIMEOUT, setting).await {
            Ok(Ok(set)) => Ok(set?),
            // The runtime drops such work only while it shuts down.
            Ok(Err(_join)) => Err(ActError::Ended),
            Err(_elapsed) => Err(ActError::NoAnswer(CLIPBOARD_TIMEOUT)),
        }
    }
}

impl OwnClipboard {
    pub(super) fn new(
        connection: Arc<RustConnection>,
        root: u32,
        atoms: Atoms,
    ) -> Result<Self, XError> {
        let window = hidden_window(&connection, root)?;
        Ok(Self(Arc::new(OwnClipboardParts {
            connection,
            window,
            atoms,
            text: Mutex::default(),
        })))
    }

    /// Puts a text on the clipboard. Blocks until the X server has processed it.
    pub(super) fn set(&self, text: Secret) -> Result<(), XError> {
        let OwnClipboardParts {
            connection,
            window,
            atoms,
            ..
        } = &*self.0;
        *self.text() = Some(text);
        connection.set_selection_owner(*window, atoms.CLIPBOARD, CURRENT_TIME)?;
        connection
            .get_selection_owner(atoms.CLIPBOARD)?
            .reply()
            .map(drop)?;
        Ok(())
    }

    /// Forgets the text, because another program has copied something or the clipboard was cleared.
    pub(super) fn forget(&self) {
        *self.text() = None;
    }

    /// Answers a program that pastes.
    pub(super) fn answer(&self, asked: &SelectionRequestEvent) -> Result<(), XError> {
        let OwnClipboardParts {
            connection, atoms, ..
        } = &*self.0;
        // Obsolete clients do not name a property.
        let property = if asked.property == NONE {
            asked.target
        } else {
            asked.property
        };
        let is_given = self.give(asked, property)?;
        let told = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: asked.time,
            requestor: asked.requestor,
            selection: atoms.CLIPBOARD,
            target: asked.target,
            property: if is_given { property } else { NONE },
        };
        connection.send_event(false, asked.requestor, EventMask::NO_EVENT, told)?;
        Ok(())
    }

    /// Writes the requested data to a program's window. Returns false if it is not available.
    fn give(&self, asked: &SelectionRequestEvent, property: Atom) -> Result<bool, XError> {
        let OwnClipboardParts {
            connection, atoms, ..
        } = &*self.0;
        let texts = [atoms.UTF8_STRING, atoms.TEXT_UTF8, atoms.TEXT_PLAIN];
        let text = self.text();
        let Some(text) = text.as_ref().filter(|_| asked.selection == atoms.CLIPBOARD) else {
            return Ok(false);
        };
        if asked.target == atoms.TARGETS {
            let known: Vec<Atom> = [atoms.TARGETS].into_iter().chain(texts).collect();
            let (window, kind) = (asked.requestor, AtomEnum::ATOM);
            connection.change_property32(PropMode::REPLACE, window, property, kind, &known)?;
            return Ok(true);
        }
        if !texts.contains(&asked.target) {
            return Ok(false);
        }
        let bytes = text.expose().as_bytes();
        let (window, kind) = (asked.requestor, asked.target);
        connection.change_property8(PropMode::REPLACE, window, property, kind, bytes)?;
        Ok(true)
    }

    fn text(&self) -> MutexGuard<'_, Option<Secret>> {
        // No code under this lock panics halfway.
        self.0.text.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Requests the text from the program that owns the clipboard, on a separate connection. Blocks.
pub(super) fn read(display: &str, guarded: &GuardedValues) -> Result<ClipboardRead, XError> {
    let (connection, root) = connect(display)?;
    let atoms = Atoms::new(&connection)?.reply()?;
    let window = hidden_window(&connection, root)?;
    let (selection, text) = (atoms.CLIPBOARD, atoms.UTF8_STRING);
    connection.convert_selection(window, selection, text, selection, CURRENT_TIME)?;
    connection.flush()?;
    let Some(property) = answered(&connection)? else {
        return Ok(ClipboardRead::Empty);
    };
    let longest_words = u32::try_from(LONGEST_CLIPBOARD_BYTES / 4).unwrap_or(u32::MAX);
    let found = connection.get_property(true, window, property, AtomEnum::ANY, 0, longest_words)?;
    let found = found.reply()?;
    if found.bytes_after > 0 || found.type_ == atoms.INCR {
        return Ok(ClipboardRead::TooLong);
    }
    // A clipboard with a secret is about to be cleared.
    if found.value.is_empty() || guarded.are_in(&found.value) {
        return Ok(ClipboardRead::Empty);
    }
    Ok(ClipboardRead::Text(
        String::from_utf8_lossy(&found.value).into_owned(),
    ))
}

/// Waits for a program's answer. Returns the property with the text, if there is one.
fn answered(connection: &RustConnection) -> Result<Option<Atom>, XError> {
    let begin = Instant::now();
    while begin.elapsed() < ANSWER_TIMEOUT {
        match connection.poll_for_event()? {
            Some(Event::SelectionNotify(told)) => {
                return Ok((told.property != NONE).then_some(told.property));
            }
            Some(_) => {}
            None => std::thread::sleep(POLL_EVERY),
        }
    }
    Ok(None)
}

/// Creates an invisible window.
pub(super) fn hidden_window(connection: &RustConnection, root: u32) -> Result<u32, XError> {
    let window = connection.generate_id()?;
    connection.create_window(
        COPY_DEPTH_FROM_PARENT,
        window,
        root,
        -1,
        -1,
        1,
        1,
        0,
        WindowClass::INPUT_ONLY,
        x11rb::COPY_FROM_PARENT,
        &CreateWindowAux::new().override_redirect(1),
    )?;
    Ok(window)
}
