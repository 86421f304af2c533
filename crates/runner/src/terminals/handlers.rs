//! The handlers of the operations on terminals.

use deskhand_core::sandbox::{
    KillTerminal, ListTerminals, OpenTerminal, RenameTerminal, TerminalFound, TerminalList,
};
use futures::{FutureExt, future};

use crate::handlers::{Handler, HandlerContext, HandlerError, Handling, Lane, Parts};

impl Handler for OpenTerminal {
    const LANE: Lane = Lane::None;

    fn handle(self, parts: Parts, _context: HandlerContext) -> Handling<Self> {
        let terminals = parts.terminals;
        // The request was admitted under this lease, and must not open a terminal under a later one.
        let lease = terminals.lease();
        async move {
            let opened = terminals.open(lease, &self);
            opened.map_err(HandlerError::failed)
        }
        .boxed()
    }
}

impl Handler for ListTerminals {
    const LANE: Lane = Lane::None;

    fn handle(self, parts: Parts, _context: HandlerContext) -> Handling<Self> {
        let terminals = parts.terminals.list();
        future::ready(Ok(TerminalList { terminals })).boxed()
    }
}

impl Handler for RenameTerminal {
    const LANE: Lane = Lane::None;

    fn handle(self, parts: Parts, _context: HandlerContext) -> Handling<Self> {
        let terminal = parts.terminals.rename(self.number, self.name);
        future::ready(Ok(TerminalFound { terminal })).boxed()
    }
}

impl Handler for KillTerminal {
    const LANE: Lane = Lane::None;

    fn handle(self, parts: Parts, _context: HandlerContext) -> Handling<Self> {
        async move {
            let terminal = parts.terminals.kill(self.number).await;
            Ok(TerminalFound { terminal })
        }
        .boxed()
    }
}
