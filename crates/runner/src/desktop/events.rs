//! What the X server tells of its own accord, read all the time by one thread on a connection
//! of its own.

use tokio::{sync::watch, time::Instant};
use x11rb::{
    connection::Connection,
    protocol::{
        Event,
        damage::{ConnectionExt as _, Damage, ReportLevel},
        xfixes::{ConnectionExt as _, SelectionEventMask},
        xproto::{ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask},
    },
    rust_connection::RustConnection,
};

use super::x::{Atoms, XError, connect};

/// What was heard. The thread ends when the X server does.
#[derive(Debug)]
pub(super) struct Events {
    /// When something was last drawn.
    pub(super) changed_at: watch::Sender<Instant>,
    /// The number of the last ping that was answered.
    pub(super) pong: watch::Sender<u32>,
    /// How many times a program began to let something be dragged to other programs.
    pub(super) n_drags: watch::Sender<u64>,
}

struct Listener {
    connection: RustConnection,
    root: u32,
    atoms: Atoms,
    damage: Damage,
    changed_at: watch::Sender<Instant>,
    pong: watch::Sender<u32>,
    n_drags: watch::Sender<u64>,
}

impl Events {
    /// Connects to `display` and listens. Blocks for some tenths of a millisecond.
    pub(super) fn listen(display: &str) -> Result<Self, XError> {
        let (connection, root) = connect(display)?;
        let atoms = Atoms::new(&connection)?.reply()?;
        connection.damage_query_version(1, 1)?.reply()?;
        let damage = connection.generate_id()?;
        // One event until it is taken back: a burst of drawing costs one wake-up.
        connection.damage_create(damage, root, ReportLevel::NON_EMPTY)?;
        // Answers to pings are sent to the root window under this mask.
        let pongs = ChangeWindowAttributesAux::new().event_mask(EventMask::SUBSTRUCTURE_NOTIFY);
        connection.change_window_attributes(root, &pongs)?.check()?;
        // Who lets something be dragged owns this selection from then on.
        let owned = SelectionEventMask::SET_SELECTION_OWNER;
        connection.xfixes_query_version(5, 0)?.reply()?;
        connection
            .xfixes_select_selection_input(root, atoms.XdndSelection, owned)?
            .check()?;
        let listener = Listener {
            connection,
            root,
            atoms,
            damage,
            changed_at: watch::Sender::new(Instant::now()),
            pong: watch::Sender::new(0),
            n_drags: watch::Sender::new(0),
        };
        let events = Self {
            changed_at: listener.changed_at.clone(),
            pong: listener.pong.clone(),
            n_drags: listener.n_drags.clone(),
        };
        std::thread::Builder::new()
            .name("desktop-events".to_owned())
            .spawn(move || {
                let Err(error) = listener.run();
                tracing::debug!(%error, "the X server is no longer listened to");
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
        reason = "X11 has some hundred events, of which these are listened to"
    )]
    fn hear(&self, event: &Event) -> Result<(), XError> {
        match event {
            Event::DamageNotify(_) => {
                self.changed_at.send_replace(Instant::now());
                self.connection
                    .damage_subtract(self.damage, x11rb::NONE, x11rb::NONE)?;
            }
            Event::XfixesSelectionNotify(_) => self.n_drags.send_modify(|n| *n += 1),
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
