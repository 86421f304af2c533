//! Network policies of sessions, the allowed hosts of their owners, and the record of destinations.

use deskhand_core::{
    audit::{AuditAction, AuditStamp, Requester},
    decision::{Ask, Settlement},
    event::{EventBody, SessionChanged},
    id::{SessionId, UserId},
    network::{
        policy::{BlockReason, MOST_NETWORK_RULES, NetworkMode, NetworkPolicy},
        question::{NetworkPermission, NetworkQuestion},
        record::{DestinationPage, MOST_DESTINATIONS, NetworkDestination, OTHER_HOSTS},
        rule::NetworkRule,
    },
};
use jiff::Timestamp;

use crate::{
    answers::NoSuchSession,
    audit::NewEntry,
    commit::{Change, HeldSession},
    database::{
        Row, Store, StoreError, Value, count, from_json, json, millis, stored_count, timestamp,
    },
    people::name_of,
};

/// Connections and bytes of one destination since the last recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DestinationCount {
    pub host: String,
    pub port: u16,
    pub n_connections: u64,
    pub n_blocked: u64,
    pub sent_bytes: u64,
    pub received_bytes: u64,
    /// The outcome of the newest attempt to connect. `None` if only bytes of older connections were counted.
    pub latest: Option<AttemptOutcome>,
    /// The time of the newest attempt or byte.
    pub at: Timestamp,
}

/// The outcome of an attempt to connect to a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptOutcome {
    Allowed,
    Blocked(BlockReason),
}

impl AttemptOutcome {
    /// Returns the name of the block reason as it is stored, or `None` if the attempt was allowed.
    fn stored_reason(self) -> Option<&'static str> {
        match self {
            Self::Allowed => None,
            Self::Blocked(reason) => Some(reason.name()),
        }
    }
}

/// Adds to the record of a session's destinations, and logs those that are new.
#[derive(Debug)]
pub struct RecordNetwork<'a> {
    pub counts: &'a [DestinationCount],
    pub events: &'a [EventBody],
}

impl Change for RecordNetwork<'_> {
    type Output = ();
    type Refusal = NoSuchSession;

    fn no_session(&self) -> NoSuchSession {
        NoSuchSession
    }

    async fn apply(
        self,
        session: &mut HeldSession,
    ) -> Result<Result<(), NoSuchSession>, StoreError> {
        for counted in self.counts {
            record(session, counted).await?;
        }
        for event in self.events {
            session.tell(event).await?;
        }
        Ok(Ok(()))
    }
}

/// Adds to the counts of a destination. If too many are recorded already, it is counted under [`OTHER_HOSTS`].
async fn record(session: &mut HeldSession, counted: &DestinationCount) -> Result<(), StoreError> {
    if add(session, counted).await? {
        return Ok(());
    }
    let sql = "SELECT COUNT(*) AS n FROM network_destinations WHERE session_id = $1";
    let row = session.tx.one(sql, [session.id.0.into()]).await?;
    let n_kept = row.map_or(Ok(0), |row| count(row.get("n")?))?;
    let others = DestinationCount {
        host: OTHER_HOSTS.to_owned(),
        port: 0,
        ..counted.clone()
    };
    let counted = if n_kept < MOST_DESTINATIONS {
        counted
    } else if add(session, &others).await? {
        return Ok(());
    } else {
        &others
    };
    let sql = "INSERT INTO network_destinations (session_id, host, port, n_connections, \
               n_blocked, sent_bytes, received_bytes, blocked, first_at_ms, last_at_ms) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)";
    let values = [
        session.id.0.into(),
        counted.host.as_str().into(),
        i64::from(counted.port).into(),
        stored_count(counted.n_connections),
        stored_count(counted.n_blocked),
        stored_count(counted.sent_bytes),
        stored_count(counted.received_bytes),
        counted
            .latest
            .and_then(AttemptOutcome::stored_reason)
            .into(),
        millis(counted.at),
    ];
    session.tx.execute(sql, values).await?;
    Ok(())
}

/// Adds to the counts of a recorded destination. Returns `false` if it is not recorded.
///
/// Bytes of older connections do not change whether the newest attempt was blocked.
async fn add(session: &mut HeldSession, counted: &DestinationCount) -> Result<bool, StoreError> {
    let set_blocked = match counted.latest {
        Some(_) => ", blocked = $9",
        None => "",
    };
    let sql = format!(
        "UPDATE network_destinations SET n_connections = n_connections + $1, \
         n_blocked = n_blocked + $2, sent_bytes = sent_bytes + $3, \
         received_bytes = received_bytes + $4, last_at_ms = $5{set_blocked} \
         WHERE session_id = $6 AND host = $7 AND port = $8"
    );
    let mut values = vec![
        stored_count(counted.n_connections),
        stored_count(counted.n_blocked),
        stored_count(counted.sent_bytes),
        stored_count(counted.received_bytes),
        millis(counted.at),
        session.id.0.into(),
        counted.host.as_str().into(),
        i64::from(counted.port).into(),
    ];
    if let Some(outcome) = counted.latest {
        values.push(outcome.stored_reason().into());
    }
    Ok(session.tx.execute(&sql, values).await? > 0)
}

impl Store {
    /// Returns the policy of a session and the list of its owner. Returns `None` if there is no such session.
    pub async fn network_rules(
        &self,
        session: SessionId,
    ) -> Result<Option<(NetworkPolicy, Vec<NetworkRule>)>, StoreError> {
        let sql = "SELECT s.network, u.network_allow FROM sessions s \
                   JOIN users u ON u.id = s.owner_id WHERE s.id = $1";
        let Some(row) = self.one(sql, [session.0.into()]).await? else {
            return Ok(None);
        };
        Ok(Some((network_policy(&row)?, owner_list(&row)?)))
    }

    /// Returns the hosts that all sessions of a user may contact.
    pub async fn network_list(&self, user: UserId) -> Result<Vec<NetworkRule>, StoreError> {
        let sql = "SELECT network_allow FROM users WHERE id = $1";
        let row = self.one(sql, [user.0.into()]).await?;
        row.map_or(Ok(Vec::new()), |row| owner_list(&row))
    }

    /// Sets the hosts that all sessions of a user may contact.
    pub async fn set_network_list(
        &self,
        user: UserId,
        list: &[NetworkRule],
        stamp: AuditStamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        let sql = "UPDATE users SET network_allow = $1 WHERE id = $2";
        tx.execute(sql, [json(&list)?.into(), user.0.into()])
            .await?;
        let rules: Vec<_> = list.iter().map(ToString::to_string).collect();
        let named = match rules.as_slice() {
            [] => "none".to_owned(),
            rules => rules.join(", "),
        };
        let entry = NewEntry::new(AuditAction::NetworkListChanged).about(user);
        entry.with("allow", named).append(&mut tx, stamp).await?;
        tx.commit().await
    }

    /// Returns a page of a session's destinations, those with the newest connection first.
    pub async fn destinations(
        &self,
        session: SessionId,
        skip: u32,
        limit: u32,
    ) -> Result<DestinationPage, StoreError> {
        let sql = "SELECT host, port, n_connections, n_blocked, sent_bytes, received_bytes, blocked, \
                   first_at_ms, last_at_ms FROM network_destinations WHERE session_id = $1 \
                   ORDER BY last_at_ms DESC, host, port LIMIT $2 OFFSET $3";
        let values: [Value; 3] = [
            session.0.into(),
            i64::from(limit.saturating_add(1)).into(),
            i64::from(skip).into(),
        ];
        let rows = self.all(sql, values).await?;
        let mut found = rows
            .iter()
            .map(destination)
            .collect::<Result<Vec<_>, _>>()?;
        let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = found.len() > wanted;
        found.truncate(wanted);
        Ok(DestinationPage {
            destinations: found,
            next: more.then(|| skip.saturating_add(limit)),
        })
    }

    /// Returns the bytes that a session has transferred, in both directions.
    pub async fn transferred_bytes(&self, session: SessionId) -> Result<u64, StoreError> {
        let sql = "SELECT CAST(COALESCE(SUM(sent_bytes + received_bytes), 0) AS BIGINT) AS n \
                   FROM network_destinations WHERE session_id = $1";
        let row = self.one(sql, [session.0.into()]).await?;
        row.map_or(Ok(0), |row| count(row.get("n")?))
    }
}

/// Adds the host of an answered question to the session's or the owner's list, as the answer says.
pub(crate) async fn allow_answered(
    session: &mut HeldSession,
    ask: &Ask,
    settlement: &Settlement,
) -> Result<(), StoreError> {
    let (Some(question), Some(by)) = (NetworkQuestion::of(ask), settlement.by()) else {
        return Ok(());
    };
    match NetworkPermission::of(settlement.reply()) {
        NetworkPermission::Session => allow_in_session(session, question.rule(), by).await,
        NetworkPermission::Always => allow_for_owner(session, question.rule(), by).await,
        NetworkPermission::Once | NetworkPermission::No => Ok(()),
    }
}

async fn allow_in_session(
    session: &mut HeldSession,
    rule: NetworkRule,
    by: UserId,
) -> Result<(), StoreError> {
    let sql = "SELECT network FROM sessions WHERE id = $1";
    let row = session.tx.one(sql, [session.id.0.into()]).await?;
    let row = row.ok_or_else(|| StoreError::Gone(format!("session {}", session.id)))?;
    let mut policy = network_policy(&row)?;
    // The policy may have changed since the question was asked.
    if policy.mode != NetworkMode::Allow || !add_rule(&mut policy.allow, rule) {
        return Ok(());
    }
    let sql = "UPDATE sessions SET network = $1 WHERE id = $2";
    let values = [json(&policy)?.into(), session.id.0.into()];
    session.tx.execute(sql, values).await?;
    let entry = NewEntry::new(AuditAction::NetworkChanged).about(session.owner);
    let entry = entry.within(session.id).with("mode", policy.mode);
    let entry = entry.with("allow", &policy.allow);
    let stamp = Requester::from(by).at(session.at);
    entry.append(&mut session.tx, stamp).await?;
    let changed = EventBody::Changed(SessionChanged {
        by,
        by_name: name_of(&mut session.tx, by).await?,
        title: None,
        effort: None,
        instructions: None,
        approvals: None,
        budget: None,
        network: Some(policy),
        mcp_servers: None,
    });
    session.tell(&changed).await?;
    Ok(())
}

async fn allow_for_owner(
    session: &mut HeldSession,
    rule: NetworkRule,
    by: UserId,
) -> Result<(), StoreError> {
    let sql = "SELECT network_allow FROM users WHERE id = $1";
    let row = session.tx.one(sql, [session.owner.0.into()]).await?;
    let mut list = row.map_or(Ok(Vec::new()), |row| owner_list(&row))?;
    let host = rule.to_string();
    if !add_rule(&mut list, rule) {
        return Ok(());
    }
    let sql = "UPDATE users SET network_allow = $1 WHERE id = $2";
    let values = [json(&list)?.into(), session.owner.0.into()];
    session.tx.execute(sql, values).await?;
    let entry = NewEntry::new(AuditAction::NetworkAllowed).about(session.owner);
    let entry = entry.within(session.id).with("host", host);
    let stamp = Requester::from(by).at(session.at);
    entry.append(&mut session.tx, stamp).await
}

/// Adds a rule. Returns `false` if the list has it already, or is full. No existing rule is dropped for a new one.
fn add_rule(list: &mut Vec<NetworkRule>, rule: NetworkRule) -> bool {
    let has_room = list.len() < MOST_NETWORK_RULES && !list.contains(&rule);
    if has_room {
        list.push(rule);
    }
    has_room
}

/// Reads the policy of a session. Sessions of earlier versions have none, and their network is closed.
pub(crate) fn network_policy(row: &Row) -> Result<NetworkPolicy, StoreError> {
    let policy: Option<String> = row.get("network")?;
    policy.map_or(Ok(NetworkPolicy::default()), |policy| from_json(&policy))
}

fn owner_list(row: &Row) -> Result<Vec<NetworkRule>, StoreError> {
    let list: Option<String> = row.get("network_allow")?;
    list.map_or(Ok(Vec::new()), |list| from_json(&list))
}

fn destination(row: &Row) -> Result<NetworkDestination, StoreError> {
    let blocked: Option<String> = row.get("blocked")?;
    let port: i64 = row.get("port")?;
    Ok(NetworkDestination {
        host: row.get("host")?,
        port: u16::try_from(port).map_err(|error| StoreError::Unreadable(error.to_string()))?,
        n_connections: count(row.get("n_connections")?)?,
        n_blocked: count(row.get("n_blocked")?)?,
        sent_bytes: count(row.get("sent_bytes")?)?,
        received_bytes: count(row.get("received_bytes")?)?,
        blocked: blocked.as_deref().and_then(BlockReason::from_name),
        first_at: timestamp(row.get("first_at_ms")?)?,
        last_at: timestamp(row.get("last_at_ms")?)?,
    })
}
