//! Finds the focused window, and checks that its program has caught up with its input.

use x11rb::{
    connection::Connection,
    protocol::xproto::{
        AtomEnum, ClientMessageEvent, ConnectionExt, EventMask, MAPPING_NOTIFY_EVENT, Mapping,
        MappingNotifyEvent,
    },
    rust_connection::RustConnection,
};

use super::{
    seat::Seat,
    x::{Atoms, XError},
};

/// The most windows that may be nested around the focused one.
const MAX_DEPTH: usize = 16;

/// The top-level window that receives keyboard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Focused {
    pub(super) window: u32,
    /// True if it answers `_NET_WM_PING`, which shows that it has caught up.
    answers_pings: bool,
    /// `WM_CLASS`, in lower case.
    class: String,
}

impl Focused {
    /// Returns true if it is Chromium or a program based on it.
    pub(super) fn is_chromium(&self) -> bool {
        const CHROMIUMS: [&str; 6] = ["chrom", "electron", "brave", "edge", "vivaldi", "code"];
        CHROMIUMS.iter().any(|name| self.class.contains(name))
    }
}

impl Seat {
    /// Returns the focused top-level window, if there is one.
    pub(super) fn focused(&self) -> Result<Option<Focused>, XError> {
        let focus = self.connection.get_input_focus()?.reply()?.focus;
        match top_level(&self.connection, &self.atoms, self.root, focus) {
            // The window was closed meanwhile.
            Err(XError::Refused(_)) => Ok(None),
            other => other,
        }
    }

    /// Returns the process of the focused window.
    pub(super) fn focused_client_pid(&self) -> Result<Option<u32>, XError> {
        match self.focused()? {
            Some(focused) => self.client_pid(focused.window),
            None => Ok(None),
        }
    }

    /// Returns the name of the focused window, if it belongs to this process.
    pub(super) fn focused_name(&self, pid: u32) -> Result<Option<String>, XError> {
        let Some(focused) = self.focused()? else {
            return Ok(None);
        };
        if self.client_pid(focused.window)? != Some(pid) {
            return Ok(None);
        }
        self.window_name(focused.window)
    }

    /// Returns the name of a window, if it still exists.
    pub(super) fn window_name(&self, window: u32) -> Result<Option<String>, XError> {
        let kind = self.atoms._NET_WM_NAME;
        let name = self
            .connection
            .get_property(false, window, kind, AtomEnum::ANY, 0, 1024)?;
        match name.reply().map_err(XError::from) {
            Ok(name) => Ok(Some(String::from_utf8_lossy(&name.value).into_owned())),
            // The window was closed meanwhile.
            Err(XError::Refused(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Tells the focused window that keys have new meanings.
    ///
    /// The X server tells only programs that subscribed to this, and browsers do not. They would give a key the
    /// meaning it had when they first looked it up.
    pub(super) fn tell_of_new_keys(&self) -> Result<(), XError> {
        let Some(focused) = self.focused()? else {
            return Ok(());
        };
        let setup = self.connection.setup();
        let message = MappingNotifyEvent {
            response_type: MAPPING_NOTIFY_EVENT,
            sequence: 0,
            request: Mapping::KEYBOARD,
            // All keys, because programs take this for the range of keys that exists.
            first_keycode: setup.min_keycode,
            count: setup.max_keycode - setup.min_keycode + 1,
        };
        self.connection
            .send_event(false, focused.window, EventMask::NO_EVENT, message)?;
        self.sync()
    }

    /// Pings the focused window with this number. Returns false if the window does not answer pings.
    ///
    /// The answer arrives when the window's program has read all input before the ping.
    pub(super) fn ping_focused(&self, number: u32) -> Result<bool, XError> {
        let Some(focused) = self.focused()?.filter(|focused| focused.answers_pings) else {
            return Ok(false);
        };
        let protocols = self.atoms.WM_PROTOCOLS;
        let data = [self.atoms._NET_WM_PING, number, focused.window, 0, 0];
        let message = ClientMessageEvent::new(32, focused.window, protocols, data);
        self.connection
            .send_event(false, focused.window, EventMask::NO_EVENT, message)?;
        self.sync()?;
        Ok(true)
    }
}

fn top_level(
    connection: &RustConnection,
    atoms: &Atoms,
    root: u32,
    focus: u32,
) -> Result<Option<Focused>, XError> {
    const NONE_OR_POINTER_ROOT: std::ops::RangeInclusive<u32> = 0..=1;
    let mut window = focus;
    for _ in 0..MAX_DEPTH {
        if NONE_OR_POINTER_ROOT.contains(&window) || window == root {
            return Ok(None);
        }
        let get = |property: u32, kind: AtomEnum| {
            connection.get_property(false, window, property, kind, 0, 256)
        };
        let protocols = get(atoms.WM_PROTOCOLS, AtomEnum::ATOM)?;
        let class = get(AtomEnum::WM_CLASS.into(), AtomEnum::STRING)?;
        let tree = connection.query_tree(window)?;
        let (protocols, class) = (protocols.reply()?, class.reply()?);
        let parent = tree.reply()?.parent;
        if !class.value.is_empty() || !protocols.value.is_empty() {
            let mut names = protocols.value32().into_iter().flatten();
            return Ok(Some(Focused {
                window,
                answers_pings: names.any(|name| name == atoms._NET_WM_PING),
                class: String::from_utf8_lossy(&class.value).to_lowercase(),
            }));
        }
        window = parent;
    }
    Ok(None)
}
