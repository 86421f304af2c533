//! A pending connection that the server has not decided about yet.

use std::net::SocketAddrV4;

use super::{
    flow::Flow,
    packet::{self, Endpoints, Unreachable},
    stack::Stack,
};

/// A connection that a program waits for. Dropping it refuses the connection.
pub(super) struct Asking {
    stack: Stack,
    endpoints: Endpoints,
    /// The SYN packet.
    syn: Vec<u8>,
    is_settled: bool,
}

impl Asking {
    pub(super) fn new(stack: Stack, endpoints: Endpoints, syn: Vec<u8>) -> Self {
        Self {
            stack,
            endpoints,
            syn,
            is_settled: false,
        }
    }

    pub(super) fn target(&self) -> SocketAddrV4 {
        self.endpoints.target
    }

    /// Accepts the connection and returns its stream.
    pub(super) fn accept(mut self) -> Flow {
        self.is_settled = true;
        let handle = self.stack.core().open(self.endpoints, &self.syn);
        Flow::new(self.stack.clone(), handle, self.endpoints)
    }

    /// Refuses the connection with a reset, like a host on which nothing listens.
    pub(super) fn reset(mut self) {
        self.settle(packet::reset(&self.syn));
    }

    /// Refuses the connection as unreachable.
    pub(super) fn unreachable(mut self) {
        self.settle(packet::unreachable(&self.syn, Unreachable::Host));
    }

    fn settle(&mut self, answer: Option<Vec<u8>>) {
        self.is_settled = true;
        self.stack.core().refuse(self.endpoints, answer);
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        if !self.is_settled {
            self.settle(packet::unreachable(&self.syn, Unreachable::Host));
        }
    }
}
