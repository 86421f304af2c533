//! Ports of sandboxes that everybody in the session may use.

use deskhand_core::{
    audit::{AuditAction, AuditStamp},
    id::SessionId,
};

use crate::{
    audit::NewEntry,
    database::{Store, StoreError, Transaction},
};

impl Store {
    /// Shares a port with everybody in a session.
    pub async fn share_port(
        &self,
        session: SessionId,
        port: u16,
        stamp: AuditStamp,
    ) -> Result<(), StoreError> {
        let sql =
            "INSERT INTO shared_ports (session_id, port) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        self.change_port(sql, AuditAction::PortShared, session, port, stamp)
            .await
    }

    /// Ends the sharing of a port.
    pub async fn unshare_port(
        &self,
        session: SessionId,
        port: u16,
        stamp: AuditStamp,
    ) -> Result<(), StoreError> {
        let sql = "DELETE FROM shared_ports WHERE session_id = $1 AND port = $2";
        self.change_port(sql, AuditAction::PortUnshared, session, port, stamp)
            .await
    }

    /// Returns the shared ports of a session, in order.
    pub async fn shared_ports(&self, session: SessionId) -> Result<Vec<u16>, StoreError> {
        let sql = "SELECT port FROM shared_ports WHERE session_id = $1 ORDER BY port";
        let rows = self.all(sql, [session.0.into()]).await?;
        let ports = rows.iter().map(|row| row.get::<i64>("port"));
        let ports: Vec<i64> = ports.collect::<Result<_, StoreError>>()?;
        Ok(ports
            .into_iter()
            .filter_map(|port| port.try_into().ok())
            .collect())
    }

    /// Changes the sharing of a port, and records it if it was a change.
    async fn change_port(
        &self,
        sql: &str,
        action: AuditAction,
        session: SessionId,
        port: u16,
        stamp: AuditStamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        let values = [session.0.into(), i64::from(port).into()];
        if tx.execute(sql, values).await? > 0 {
            let entry = NewEntry::new(action).within(session).with("port", port);
            entry.append(&mut tx, stamp).await?;
        }
        tx.commit().await
    }
}

/// Ends the sharing of all ports of a session.
pub(crate) async fn end_sharing(
    tx: &mut Transaction,
    session: SessionId,
    stamp: AuditStamp,
) -> Result<(), StoreError> {
    let sql = "SELECT port FROM shared_ports WHERE session_id = $1 ORDER BY port";
    for row in tx.all(sql, [session.0.into()]).await? {
        let port: i64 = row.get("port")?;
        let entry = NewEntry::new(AuditAction::PortUnshared).within(session);
        entry.with("port", port).append(tx, stamp).await?;
    }
    let sql = "DELETE FROM shared_ports WHERE session_id = $1";
    tx.execute(sql, [session.0.into()]).await?;
    Ok(())
}
