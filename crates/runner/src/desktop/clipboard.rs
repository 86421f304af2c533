//! The clipboard, borrowed for a moment to hand a program text that keys cannot type, and given
//! back with what was in it.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    time::{Duration, Instant},
};

use tokio::sync::watch;
use x11rb::{
    connection::{Connection, RequestConnection},
    protocol::xproto::{
        Atom, AtomEnum, ConnectionExt as _, CreateWindowAux, EventMask, PropMode,
        SelectionNotifyEvent, SelectionRequestEvent, WindowClass,
    },
    rust_connection::RustConnection,
    wrapper::ConnectionExt as _,
};

use super::x::{Atoms, XError};

/// How long the owner of the clipboard has to hand over one format.
const FORMAT_MAX: Duration = Duration::from_millis(300);

/// How long saving the clipboard may take in all. What is not saved by then is lost.
const SAVE_MAX: Duration = Duration::from_millis(800);

/// The longest property that is read, in units of four bytes.
const LONGEST_PROPERTY: u32 = 4 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct Clipboard {
    connection: Arc<RustConnection>,
    atoms: Atoms,
    /// A window nobody sees, which owns the clipboard while it is ours.
    window: u32,
    offered: Mutex<Content>,
    arrivals: Mutex<mpsc::Receiver<SelectionNotifyEvent>>,
    arrive: mpsc::Sender<SelectionNotifyEvent>,
    requests: watch::Sender<Requests>,
}

/// What programs have asked of the clipboard while it was ours.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Requests {
    /// How many times it was handed over in some format.
    pub(super) n_served: u64,
    /// When anything was last asked.
    pub(super) last_at: Option<Instant>,
}

/// What is in a clipboard: the same thing in several formats. Empty when there is nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Content(Vec<Format>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Format {
    target: Atom,
    kind: Atom,
    /// 8, 16 or 32 bits to a unit.
    unit_bits: u8,
    bytes: Vec<u8>,
}

impl Clipboard {
    pub(super) fn new(
        connection: Arc<RustConnection>,
        root: u32,
        atoms: Atoms,
    ) -> Result<Self, XError> {
        let window = connection.generate_id()?;
        connection.create_window(
            x11rb::COPY_DEPTH_FROM_PARENT,
            window,
            root,
            -1,
            -1,
            1,
            1,
            0,
            WindowClass::INPUT_ONLY,
            x11rb::COPY_FROM_PARENT,
            &CreateWindowAux::new(),
        )?;
        connection.flush()?;
        let (arrive, arrivals) = mpsc::channel();
        Ok(Self {
            connection,
            atoms,
            window,
            offered: Mutex::default(),
            arrivals: Mutex::new(arrivals),
            arrive,
            requests: watch::Sender::default(),
        })
    }

    /// Puts `text` into the clipboard.
    pub(super) fn offer_text(&self, text: &str) -> Result<(), XError> {
        let format = |target| Format {
            target,
            kind: target,
            unit_bits: 8,
            bytes: text.as_bytes().to_vec(),
        };
        self.offer(Content(vec![
            format(self.atoms.UTF8_STRING),
            format(self.atoms.TEXT_PLAIN_UTF8),
        ]))?;
        // Whoever is now told to paste, over another connection, finds it there.
        self.connection.get_input_focus()?.reply()?;
        Ok(())
    }

    /// Puts `content` into the clipboard, or empties it.
    pub(super) fn offer(&self, content: Content) -> Result<(), XError> {
        let owner = if content.0.is_empty() {
            x11rb::NONE
        } else {
            self.window
        };
        *self.offered() = content;
        let clipboard = self.atoms.CLIPBOARD;
        self.connection
            .set_selection_owner(owner, clipboard, x11rb::CURRENT_TIME)?;
        self.connection.flush()?;
        Ok(())
    }

    /// What is in the clipboard now. Asks its owner and blocks until that has answered; what it
    /// does not hand over in time, or only piece by piece, is left out.
    pub(super) fn content(&self) -> Result<Content, XError> {
        let owner = self.owner()?;
        if owner == x11rb::NONE {
            return Ok(Content::default());
        }
        if owner == self.window {
            return Ok(self.offered().clone());
        }
        let give_up_at = Instant::now() + SAVE_MAX;
        let arrivals = lock(&self.arrivals);
        let Some(targets) = self.fetch(&arrivals, self.atoms.TARGETS, give_up_at)? else {
            return Ok(Content::default());
        };
        let mut formats = Vec::new();
        for target in targets.atoms().filter(|target| !self.is_question(*target)) {
            formats.extend(self.fetch(&arrivals, target, give_up_at)?);
        }
        Ok(Content(formats))
    }

    pub(super) fn requests(&self) -> watch::Receiver<Requests> {
        self.requests.subscribe()
    }

    /// Asks the clipboard's owner for one format.
    fn fetch(
        &self,
        arrivals: &mpsc::Receiver<SelectionNotifyEvent>,
        target: Atom,
        give_up_at: Instant,
    ) -> Result<Option<Format>, XError> {
        let Atoms {
            CLIPBOARD: clipboard,
            DESKHAND_CLIPBOARD: property,
            ..
        } = self.atoms;
        let now = Instant::now();
        let give_up_at = give_up_at.min(now + FORMAT_MAX);
        self.connection.convert_selection(
            self.window,
            clipboard,
            target,
            property,
            x11rb::CURRENT_TIME,
        )?;
        self.connection.flush()?;
        let arrived = loop {
            let left = give_up_at.saturating_duration_since(Instant::now());
            match arrivals.recv_timeout(left) {
                Ok(notify) if notify.target == target => break notify.property,
                // A late answer to an earlier question.
                Ok(_) => {}
                Err(_too_late) => return Ok(None),
            }
        };
        if arrived == x11rb::NONE {
            return Ok(None);
        }
        let reply = self
            .connection
            .get_property(
                true,
                self.window,
                arrived,
                AtomEnum::ANY,
                0,
                LONGEST_PROPERTY,
            )?
            .reply()?;
        if reply.type_ == self.atoms.INCR || reply.bytes_after > 0 {
            return Ok(None);
        }
        Ok(Some(Format {
            target,
            kind: reply.type_,
            unit_bits: reply.format,
            bytes: reply.value,
        }))
    }

    /// Whether a target asks about the clipboard instead of being a format of what is in it.
    fn is_question(&self, target: Atom) -> bool {
        let Atoms {
            TARGETS,
            TIMESTAMP,
            MULTIPLE,
            SAVE_TARGETS,
            DELETE,
            ..
        } = self.atoms;
        [TARGETS, TIMESTAMP, MULTIPLE, SAVE_TARGETS, DELETE].contains(&target)
    }

    /// Answers a program that asks for what is in the clipboard.
    pub(super) fn serve(&self, request: &SelectionRequestEvent) -> Result<(), XError> {
        let property = if request.property == x11rb::NONE {
            request.target
        } else {
            request.property
        };
        let is_served = self.hand_over(request, property)?;
        let notify = SelectionNotifyEvent {
            response_type: x11rb::protocol::xproto::SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: request.time,
            requestor: request.requestor,
            selection: request.selection,
            target: request.target,
            property: if is_served { property } else { x11rb::NONE },
        };
        self.connection
            .send_event(false, request.requestor, EventMask::NO_EVENT, notify)?;
        self.connection.flush()?;
        if self.is_program(request.requestor) {
            let is_content = is_served && !self.is_question(request.target);
            self.requests.send_modify(|requests| {
                requests.n_served += u64::from(is_content);
                requests.last_at = Some(Instant::now());
            });
        }
        Ok(())
    }

    /// Writes what was asked for where it was asked for. `false` when there is no such format.
    fn hand_over(&self, request: &SelectionRequestEvent, property: Atom) -> Result<bool, XError> {
        let offered = self.offered();
        if request.target == self.atoms.TARGETS {
            let formats = offered.0.iter().map(|format| format.target);
            let targets: Vec<Atom> = formats.chain([self.atoms.TARGETS]).collect();
            self.connection.change_property32(
                PropMode::REPLACE,
                request.requestor,
                property,
                AtomEnum::ATOM,
                &targets,
            )?;
            return Ok(true);
        }
        let mut formats = offered.0.iter();
        let Some(format) = formats.find(|format| format.target == request.target) else {
            return Ok(false);
        };
        if format.bytes.len() + 64 > self.connection.maximum_request_bytes() {
            return Ok(false);
        }
        let n_units = format.bytes.len() / usize::from(format.unit_bits / 8).max(1);
        self.connection.change_property(
            PropMode::REPLACE,
            request.requestor,
            property,
            format.kind,
            format.unit_bits,
            u32::try_from(n_units).unwrap_or(u32::MAX),
            &format.bytes,
        )?;
        Ok(true)
    }

    /// Whether a window belongs to a program, and not to the X server itself, which copies the
    /// clipboard for whoever watches the screen.
    fn is_program(&self, window: u32) -> bool {
        const SERVERS_OWN: u32 = 0x2000_0000;
        let owner_bits = !self.connection.setup().resource_id_mask & !SERVERS_OWN;
        window & owner_bits != 0
    }

    /// An answer to [`Clipboard::fetch`].
    pub(super) fn arrived(&self, notify: &SelectionNotifyEvent) {
        // The receiver lives as long as this.
        let _ = self.arrive.send(*notify);
    }

    /// Somebody else copied something, if it is not ours again already.
    pub(super) fn taken_over(&self) -> Result<(), XError> {
        if self.owner()? != self.window {
            *self.offered() = Content::default();
        }
        Ok(())
    }

    fn owner(&self) -> Result<u32, XError> {
        let owner = self.connection.get_selection_owner(self.atoms.CLIPBOARD)?;
        Ok(owner.reply()?.owner)
    }

    fn offered(&self) -> MutexGuard<'_, Content> {
        lock(&self.offered)
    }
}

impl Format {
    fn atoms(&self) -> impl Iterator<Item = Atom> {
        let (units, _) = self.bytes.as_chunks::<4>();
        units.iter().map(|unit| Atom::from_ne_bytes(*unit))
    }
}

/// What these locks guard is right at every moment, so a panic elsewhere does not spoil it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
