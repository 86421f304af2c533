//! Events of the X server, which one thread reads continuously on its own connection.

use std::sync::Arc;

use tokio::{sync::watch, time::Instant};
use x11rb::{
    connection::Connection,
    protocol::{
        Event,
        damage::{ConnectionExt as _, Damage, ReportLevel},
        xfixes::{ConnectionExt as _, SelectionEventMask},
        xproto::{
            AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask,
        },
    },
    rust_connection::RustConnection,
};

use super::{
    clipboard::OwnClipboard,
    guard::GuardedValues,
    pasteboard::Pasteboard,
    x::{Atoms, XError, connect},
};

/// The latest events. The thread ends when the X server does.
#[derive(Debug)]
pub(super) struct Events {
    /// The time at which something was last drawn.
    pub(super) changed_at: watch::Sender<Instant>,
    /// The number of the last ping that was answered.
    pub(super) pong: watch::Sender<u32>,
    /// The number of times that a program began a drag that other programs can receive.
    pub(super) n_drags: watch::Sender<u64>,
    /// The text that a person put on the clipboard.
    pub(super) clipboard: OwnClipboard,
}

struct Listener {
    connection: Arc<RustConnection>,
    root: u32,
    atoms: Atoms,
    damage: Damage,
    pasteboard: Pasteboard,
    changed_at: watch::Sender<Instant>,
    pong: watch::Sender<u32>,
    n_drags: watch::Sender<u64>,
    clipboard: OwnClipboard,
}

impl Events {
    /// Connects to `display` and starts listening. Blocks for some tenths of a millisecond.
    ///
    /// Whatever is copied or selected from now on is searched for `guarded`.
    pub(super) fn listen(display: &str, guarded: GuardedValues) -> Result<Self, XError> {
        let (connection, root) = connect(display)?;
        let atoms = Atoms::new(&connection)?.reply()?;
        connection.damage_query_version(1, 1)?.reply()?;
        let damage = connection.generate_id()?;
        // The server sends one event until we reset the damage, so a burst of drawing costs one wake-up.
        connection.damage_create(damage, root, ReportLevel::NON_EMPTY)?;
        // Programs answer pings by sending to the root window with this mask.
        let pongs = ChangeWindowAttributesAux::new().event_mask(EventMask::SUBSTRUCTURE_NOTIFY);
        connection.change_window_attributes(root, &pongs)?.check()?;
        // A program that begins such a drag takes ownership of this selection.
        let owned = SelectionEventMask::SET_SELECTION_OWNER;
        connection.xfixes_query_version(5, 0)?.reply()?;
        for selection in [
            atoms.XdndSelection,
            atoms.CLIPBOARD,
            AtomEnum::PRIMARY.into(),
        ] {
            connection
                .xfixes_select_selection_input(root, selection, owned)?
                .check()?;
        }
        let pasteboard = Pasteboard::open(&connection, root, guarded)?;
        let connection = Arc::new(connection);
        let clipboard = OwnClipboard::new(Arc::clone(&connection), root, atoms)?;
        let listener = Listener {
            connection,
            root,
            atoms,
            damage,
            pasteboard,
            changed_at: watch::Sender::new(Instant::now()),
            pong: watch::Sender::new(0),
            n_drags: watch::Sender::new(0),
            clipboard,
        };
        let events = Self {
            changed_at: listener.changed_at.clone(),
            pong: listener.pong.clone(),
            n_drags: listener.n_drags.clone(),
            clipboard: listener.clipboard.clone(),
        };
        std::thread::Builder::new()
            .name("desktop-events".to_owned())
            .spawn(move || {
                let Err(error) = listener.run();
                tracing::debug!(%error, "stopped listening to the X server");
            })
            .map_err(XError::Memory)?;
        Ok(events)
    }
}

impl Listener {
    fn run(&self) -> Result<std::convert::Infallible, XError> {
        loop {
            let event = self.connection.wait_for_event()?;
            self.hear(&event)?;
            self.connection.flush()?;
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "X11 has some hundred events, and we handle only these"
    )]
    fn hear(&self, event: &Event) -> Result<(), XError> {
        match event {
            Event::DamageNotify(_) => {
                self.changed_at.send_replace(Instant::now());
                self.connection
                    .damage_subtract(self.damage, x11rb::NONE, x11rb::NONE)?;
            }
            Event::XfixesSelectionNotify(owned) if owned.selection == self.atoms.XdndSelection => {
                self.n_drags.send_modify(|n| *n += 1);
            }
            Event::XfixesSelectionNotify(owned) => {
                self.pasteboard.ask(&self.connection, &self.atoms, owned)?;
            }
            Event::SelectionNotify(told) => {
                self.pasteboard.check(&self.connection, &self.atoms, told)?;
            }
            Event::SelectionRequest(asked) => self.clipboard.answer(asked)?,
            Event::SelectionClear(_) => self.clipboard.forget(),
            Event::ClientMessage(message) => self.hear_pong(message),
            _ => {}
        }
        Ok(())
    }

    fn hear_pong(&self, message: &ClientMessageEvent) {
        let [protocol, number, ..] = message.data.as_data32();
        if message.window == self.root
            && message.type_ == self.atoms.WM_PROTOCOLS
            && protocol == self.atoms._NET_WM_PING
        {
            self.pong.send_replace(number);
        }
    }
}
