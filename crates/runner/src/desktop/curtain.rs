//! Keeps a person's input from frozen programs.
//!
//! A frozen program cannot act, but the X server would keep every event for it that it has asked for, and deliver
//! them when the program continues: keys among them, whatever window they were typed into. So its windows are hidden,
//! and programs that could have listened are named, to be killed.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use x11rb::{
    CURRENT_TIME, NONE,
    protocol::{
        sync::ConnectionExt as _,
        xproto::{
            AtomEnum, ClientMessageEvent, ConnectionExt as _, EventMask, GrabMode, GrabStatus,
            MapState, ModMask,
        },
    },
};

use super::{ActError, Desktop, clients::XClient, seat::Seat, x::XError};

/// The X server's counter of the time since the last key. The number is that of the keyboard that all others feed.
const KEYBOARD_IDLE: &[u8] = b"DEVICEIDLETIME 3";
/// A recording of all input, whichever window it is for.
const RECORDING: &[u8] = b"RecordContext";
const KEY_GRAB: &[u8] = b"PASSIVE GRAB";
/// A client whose next requests wait for a time or another event. They would be carried out although it is frozen.
const WAITING: &[u8] = b"SyncAwait";
/// Requests for events of windows of others, and of devices. Such a request may be for keys.
const LISTENING: [&[u8]; 2] = [b"OTHER CLIENT", b"INPUTCLIENT"];
/// The most windows inside each other that are looked at.
const MAX_DEPTH: usize = 32;
/// Stands for all keys in a grab.
const ANY_KEY: u8 = 0;

/// The state of the screen while a person has control.
#[derive(Debug, Clone)]
pub(super) struct Curtain {
    drawn_at: Instant,
    /// The clients that were there before.
    clients: Vec<XClient>,
    /// Their windows, in the order of the screen from back to front.
    hidden: Vec<u32>,
}

/// The processes behind clients of the X server.
#[derive(Debug, Default)]
pub(crate) struct ClientProcesses {
    pub(crate) ids: HashSet<u32>,
    /// True if there are clients whose process is not known or has ended, so that others must have their connection.
    pub(crate) has_unknown: bool,
}

impl Desktop {
    /// Hides the windows of all programs but the spared ones, and returns those that take keys away from others.
    pub(crate) async fn draw_curtain(
        &self,
        spared: HashSet<u32>,
    ) -> Result<ClientProcesses, ActError> {
        let mut curtain = self.0.curtain.lock().await;
        let drawn = self.0.seat.run(move |seat| seat.draw_curtain(&spared));
        let (drawn, culprits) = drawn.await?;
        *curtain = Some(match curtain.take() {
            Some(earlier) => earlier.and(drawn),
            None => drawn,
        });
        Ok(culprits)
    }

    /// Returns the programs that may have been told of keys since the curtain was drawn.
    pub(crate) async fn look_behind_curtain(&self) -> Result<ClientProcesses, ActError> {
        let Some(curtain) = self.0.curtain.lock().await.clone() else {
            return Ok(ClientProcesses::default());
        };
        let looked = self.0.seat.run(move |seat| seat.look_behind(&curtain));
        looked.await
    }

    /// Shows the hidden windows again.
    pub(crate) async fn lift_curtain(&self) -> Result<(), ActError> {
        let Some(curtain) = self.0.curtain.lock().await.take() else {
            return Ok(());
        };
        let lifted = self.0.seat.run(move |seat| seat.lift_curtain(&curtain));
        lifted.await
    }
}

impl Seat {
    /// Hides the windows of all clients but those of the spared processes, and returns those that take keys away from
    /// others or record them.
    pub(super) fn draw_curtain(
        &self,
        spared: &HashSet<u32>,
    ) -> Result<(Curtain, ClientProcesses), XError> {
        let mut clients = self.clients()?;
        clients.retain(|client| client.pid.is_none_or(|pid| !spared.contains(&pid)));
        let mut curtain = Curtain {
            drawn_at: Instant::now(),
            clients,
            hidden: Vec::new(),
        };
        let mut visible = vec![self.root];
        self.hide(&mut curtain, self.root, MAX_DEPTH, &mut visible)?;
        self.sync()?;
        let mut culprits = ClientProcesses::default();
        let is_taken = self.keyboard_is_taken()?;
        let has_grabs = self.keys_are_grabbed(&visible)?;
        for client in &curtain.clients {
            let resources = self.resources(client)?;
            if is_taken
                || resources.contains_key(RECORDING)
                || resources.contains_key(WAITING)
                || (has_grabs && resources.contains_key(KEY_GRAB))
            {
                culprits.add(client);
            }
        }
        Ok((curtain, culprits))
    }

    /// Returns the clients from before the curtain that may have been told of keys typed since, and empties the
    /// clipboard.
    pub(super) fn look_behind(&self, curtain: &Curtain) -> Result<ClientProcesses, XError> {
        self.forget_selections()?;
        let mut listeners = ClientProcesses::default();
        if self.keyboard_idle()? >= curtain.drawn_at.elapsed() {
            return Ok(listeners);
        }
        // A request from before may have taken all keys since.
        let is_taken = self.keyboard_is_taken()?;
        for client in &curtain.clients {
            let resources = self.resources(client)?;
            if is_taken || LISTENING.iter().any(|kind| resources.contains_key(*kind)) {
                listeners.add(client);
            }
        }
        Ok(listeners)
    }

    /// Shows the hidden windows again, behind the window that the person left in front.
    pub(super) fn lift_curtain(&self, curtain: &Curtain) -> Result<(), XError> {
        let active = self.connection.get_property(
            false,
            self.root,
            self.atoms._NET_ACTIVE_WINDOW,
            AtomEnum::WINDOW,
            0,
            1,
        )?;
        let active = active.reply()?;
        let active = active.value32().and_then(|mut windows| windows.next());
        for window in &curtain.hidden {
            // A window that is gone needs no showing.
            self.connection.map_window(*window)?.ignore_error();
        }
        if let Some(active) = active.filter(|active| *active != NONE) {
            const FROM_A_PAGER: u32 = 2;
            let data = [FROM_A_PAGER, CURRENT_TIME, NONE, 0, 0];
            let kind = self.atoms._NET_ACTIVE_WINDOW;
            let message = ClientMessageEvent::new(32, active, kind, data);
            let mask = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
            self.connection
                .send_event(false, self.root, mask, message)?;
        }
        self.sync()
    }

    /// Hides windows of the curtain's clients below `parent`, and collects the others that are visible.
    fn hide(
        &self,
        curtain: &mut Curtain,
        parent: u32,
        depth: usize,
        visible: &mut Vec<u32>,
    ) -> Result<(), XError> {
        let children = match self.connection.query_tree(parent)?.reply() {
            Ok(tree) => tree.children,
            // The window was closed meanwhile.
            Err(_gone) => return Ok(()),
        };
        for window in children {
            let Ok(attributes) = self.connection.get_window_attributes(window)?.reply() else {
                continue;
            };
            if attributes.map_state == MapState::UNMAPPED {
                continue;
            }
            if curtain.clients.iter().any(|client| client.owns(window)) {
                curtain.hidden.push(window);
                self.connection.unmap_window(window)?.ignore_error();
                continue;
            }
            visible.push(window);
            if depth > 0 {
                self.hide(curtain, window, depth - 1, visible)?;
            }
        }
        Ok(())
    }

    /// Returns true if a client gets all keys at the moment.
    fn keyboard_is_taken(&self) -> Result<bool, XError> {
        let mode = GrabMode::ASYNC;
        let asked = self
            .connection
            .grab_keyboard(true, self.root, CURRENT_TIME, mode, mode)?;
        let status = asked.reply()?.status;
        if status == GrabStatus::SUCCESS {
            self.connection.ungrab_keyboard(CURRENT_TIME)?;
        }
        Ok(status == GrabStatus::ALREADY_GRABBED || status == GrabStatus::FROZEN)
    }

    /// Returns true if a client will get plain keys that are typed into one of these windows.
    ///
    /// A grab fails if another client has one for any of its keys. The window manager has some with modifiers.
    fn keys_are_grabbed(&self, windows: &[u32]) -> Result<bool, XError> {
        let mode = GrabMode::ASYNC;
        let plain = ModMask::from(0_u16);
        for window in windows {
            for modifiers in [plain, ModMask::SHIFT] {
                let grab = self
                    .connection
                    .grab_key(true, *window, modifiers, ANY_KEY, mode, mode)?;
                let is_grabbed = match grab.check().map_err(XError::from) {
                    Ok(()) => false,
                    // A window that was closed meanwhile has no grabs.
                    Err(XError::Refused(error)) => {
                        error.error_kind == x11rb::protocol::ErrorKind::Access
                    }
                    Err(error) => return Err(error),
                };
                self.connection
                    .ungrab_key(ANY_KEY, *window, modifiers)?
                    .ignore_error();
                if is_grabbed {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Returns the time since the last key. It is zero if the X server does not tell.
    fn keyboard_idle(&self) -> Result<Duration, XError> {
        self.connection.sync_initialize(3, 1)?.reply()?;
        let counters = self.connection.sync_list_system_counters()?.reply()?;
        let counter = counters
            .counters
            .iter()
            .find(|counter| counter.name == KEYBOARD_IDLE);
        let Some(counter) = counter else {
            return Ok(Duration::ZERO);
        };
        let value = self.connection.sync_query_counter(counter.counter)?;
        let value = value.reply()?.counter_value;
        let high = u64::try_from(value.hi).unwrap_or_default();
        Ok(Duration::from_millis((high << 32) | u64::from(value.lo)))
    }

    /// Takes the clipboard and the selected text from their owners, so that nobody can ask for them any more.
    pub(super) fn forget_selections(&self) -> Result<(), XError> {
        for selection in [AtomEnum::PRIMARY.into(), self.atoms.CLIPBOARD] {
            self.connection
                .set_selection_owner(NONE, selection, CURRENT_TIME)?;
        }
        Ok(())
    }
}

impl Curtain {
    /// Joins a curtain with one that was drawn later, when the next person took control.
    pub(super) fn and(mut self, later: Self) -> Self {
        self.clients.extend(later.clients);
        self.hidden.extend(later.hidden);
        self
    }
}

impl ClientProcesses {
    fn add(&mut self, client: &XClient) {
        self.has_unknown |= client.pid.is_none();
        self.ids.extend(client.pid);
    }
}
