//! The clients of the X server, and the processes behind them.

use std::collections::HashMap;

use x11rb::protocol::{
    res::{ClientIdMask, ClientIdSpec, ConnectionExt as _},
    xproto::ConnectionExt as _,
};

use super::{seat::Seat, x::XError};

/// A connection to the X server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct XClient {
    base: u32,
    mask: u32,
    /// The process that opened the connection, if it runs on this machine. It may have passed the connection on.
    pub(super) pid: Option<u32>,
}

impl XClient {
    /// Returns true if a window or another resource belongs to this client.
    pub(super) fn owns(&self, resource: u32) -> bool {
        resource & !self.mask == self.base
    }
}

impl Seat {
    /// Returns all clients of the X server, which is one itself.
    pub(super) fn clients(&self) -> Result<Vec<XClient>, XError> {
        let clients = self.connection.res_query_clients()?.reply()?.clients;
        let mut found = Vec::with_capacity(clients.len());
        for client in clients {
            found.push(XClient {
                base: client.resource_base,
                mask: client.resource_mask,
                pid: self.client_pid(client.resource_base)?,
            });
        }
        Ok(found)
    }

    /// Returns the process behind a window or another resource, as the kernel told the X server.
    pub(super) fn client_pid(&self, resource: u32) -> Result<Option<u32>, XError> {
        let mask = ClientIdMask::LOCAL_CLIENT_PID;
        let client = resource;
        let asked = self
            .connection
            .res_query_client_ids(&[ClientIdSpec { client, mask }])?;
        let ids = match asked.reply().map_err(XError::from) {
            Ok(reply) => reply.ids,
            // The client has left meanwhile.
            Err(XError::Refused(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(ids.iter().find_map(|id| id.value.first().copied()))
    }

    /// Returns how many resources of each kind a client has, by the X server's names for them.
    pub(super) fn resources(&self, client: &XClient) -> Result<HashMap<Vec<u8>, u32>, XError> {
        let asked = self.connection.res_query_client_resources(client.base)?;
        let types = match asked.reply().map_err(XError::from) {
            Ok(reply) => reply.types,
            Err(XError::Refused(_)) => return Ok(HashMap::new()),
            Err(error) => return Err(error),
        };
        let mut counts = HashMap::new();
        for kind in types {
            let name = self.connection.get_atom_name(kind.resource_type)?.reply()?;
            counts.insert(name.name, kind.count);
        }
        Ok(counts)
    }
}
