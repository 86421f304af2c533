//! The basics for every part that speaks X11: connecting, errors, and the atoms in use.

use x11rb::{
    errors::{ConnectError, ConnectionError, ReplyError, ReplyOrIdError},
    rust_connection::RustConnection,
    x11_utils::X11Error,
};

/// Reasons why the X server did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum XError {
    #[error("cannot reach the X server")]
    Connect(#[from] ConnectError),
    #[error("the connection to the X server is broken")]
    Connection(#[from] ConnectionError),
    #[error("the X server refused a request: {0:?}")]
    Refused(X11Error),
    #[error("the X server cannot be used for a desktop: {0}")]
    Unfit(&'static str),
    #[error("could not share memory with the X server")]
    Memory(#[source] std::io::Error),
}

impl From<ReplyError> for XError {
    fn from(error: ReplyError) -> Self {
        match error {
            ReplyError::ConnectionError(error) => Self::Connection(error),
            ReplyError::X11Error(error) => Self::Refused(error),
        }
    }
}

impl From<ReplyOrIdError> for XError {
    fn from(error: ReplyOrIdError) -> Self {
        match error {
            ReplyOrIdError::ConnectionError(error) => Self::Connection(error),
            ReplyOrIdError::X11Error(error) => Self::Refused(error),
            ReplyOrIdError::IdsExhausted => Self::Unfit("it has no identifiers left"),
        }
    }
}

/// Connects to `display`. Returns the connection and the root window of its screen.
pub(super) fn connect(display: &str) -> Result<(RustConnection, u32), XError> {
    use x11rb::connection::Connection;

    let (connection, screen) = RustConnection::connect(Some(display))?;
    let root = connection
        .setup()
        .roots
        .get(screen)
        .ok_or(XError::Unfit("it has no screen"))?
        .root;
    Ok((connection, root))
}

/// Throws away what has come over a connection besides replies: events that every client gets, and errors of requests
/// that nobody waits for. They would be kept for ever.
pub(super) fn forget_events(connection: &RustConnection) -> Result<(), XError> {
    use x11rb::connection::Connection;

    while connection.poll_for_event()?.is_some() {}
    Ok(())
}

x11rb::atom_manager! {
    /// The atoms in use, looked up once per connection.
    pub(super) Atoms: AtomsCookie {
        CLIPBOARD,
        INCR,
        TARGETS,
        TEXT_PLAIN: b"text/plain",
        TEXT_UTF8: b"text/plain;charset=utf-8",
        UTF8_STRING,
        WM_PROTOCOLS,
        _NET_ACTIVE_WINDOW,
        _NET_WM_NAME,
        _NET_WM_PID,
        _NET_WM_PING,
        XdndSelection,
    }
}
