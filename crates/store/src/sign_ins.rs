//! Sign-ins: the codes of sign-in links, and the browsers that are signed in. Only hashes are stored.

use deskhand_core::{
    audit::{AuditAction, AuditStamp, Requester},
    id::{SignInId, UserId},
    user::{Browser, Identity, Scope},
};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::{
    audit::NewEntry,
    database::{Row, Store, StoreError, Transaction, millis, timestamp},
    people::role,
};

/// The code of a sign-in link to be stored.
#[derive(Debug)]
pub struct NewCode<'a> {
    pub user: UserId,
    pub hash: &'a str,
    pub expires_at: Timestamp,
    pub reason: CodeReason,
}

/// The reason why a sign-in link is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeReason {
    /// A user signs in somewhere else.
    Own,
    /// An administrator lets a new user in.
    Invitation,
    /// An administrator lets a user in again. All sign-ins of the user end.
    Reset,
}

/// A browser to be signed in.
#[derive(Debug)]
pub struct NewSignIn<'a> {
    /// The hash of its cookie.
    pub hash: &'a str,
    /// The name that it gives itself.
    pub browser: Option<&'a str>,
    pub expires_at: Timestamp,
    /// The hash of the cookie that the browser had before. That sign-in ends.
    pub replaces: Option<&'a str>,
}

/// Returns the public id of a sign-in. It follows from the hash, so that those of earlier versions have one too.
pub fn sign_in_id(hash: &str) -> SignInId {
    let digest = Sha256::digest(hash);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    SignInId(uuid::Builder::from_custom_bytes(bytes).into_uuid())
}

impl Store {
    /// Returns true if a user has ever signed in, or has a token.
    pub async fn has_signed_in(&self, user: UserId) -> Result<bool, StoreError> {
        let sql = "SELECT id FROM users u WHERE id = $1 AND (signed_in_at_ms IS NOT NULL \
                   OR EXISTS (SELECT 1 FROM api_tokens t WHERE t.user_id = u.id))";
        Ok(self.one(sql, [user.0.into()]).await?.is_some())
    }

    /// Stores a sign-in code, and deletes expired ones.
    pub async fn insert_sign_in_code(
        &self,
        new: NewCode<'_>,
        stamp: AuditStamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        let sql = "DELETE FROM sign_in_codes WHERE expires_at_ms <= $1";
        tx.execute(sql, [millis(stamp.at)]).await?;
        let action = match new.reason {
            CodeReason::Own => NewEntry::new(AuditAction::SignInLinkCreated),
            CodeReason::Invitation => NewEntry::new(AuditAction::UserInvited),
            CodeReason::Reset => {
                let n_ended = end_all(&mut tx, new.user).await?;
                NewEntry::new(AuditAction::SignInReset).with("n_ended", n_ended)
            }
        };
        let sql = "INSERT INTO sign_in_codes (hash, user_id, expires_at_ms) VALUES ($1, $2, $3)";
        let values = [new.hash.into(), new.user.0.into(), millis(new.expires_at)];
        tx.execute(sql, values).await?;
        action.about(new.user).append(&mut tx, stamp).await?;
        tx.commit().await
    }

    /// Returns the user of a valid sign-in code, and leaves the code as it is.
    pub async fn user_of_code(
        &self,
        hash: &str,
        now: Timestamp,
    ) -> Result<Option<UserId>, StoreError> {
        let sql = "SELECT c.user_id FROM sign_in_codes c JOIN users u ON u.id = c.user_id \
                   WHERE c.hash = $1 AND c.expires_at_ms > $2 AND u.active";
        let row = self.one(sql, [hash.into(), millis(now)]).await?;
        row.map(|row| row.get("user_id").map(UserId)).transpose()
    }

    /// Uses up a sign-in code and signs a browser in. Returns its user if the code is valid and the user is active. Of
    /// two concurrent attempts, one succeeds.
    pub async fn sign_in(
        &self,
        code: &str,
        new: NewSignIn<'_>,
        stamp: AuditStamp,
    ) -> Result<Option<UserId>, StoreError> {
        let mut tx = self.begin().await?;
        let sql = "DELETE FROM sign_in_codes WHERE hash = $1 RETURNING user_id, expires_at_ms > $2 \
                   AND (SELECT active FROM users WHERE id = user_id) AS good";
        let Some(row) = tx.one(sql, [code.into(), millis(stamp.at)]).await? else {
            return Ok(None);
        };
        if !row.get("good")? {
            tx.commit().await?;
            return Ok(None);
        }
        let user = UserId(row.get("user_id")?);
        if let Some(before) = new.replaces {
            let how = "the browser signed in anew";
            end_one(&mut tx, before, how, stamp).await?;
        }
        insert_login(&mut tx, user, &new, stamp).await?;
        let sql = "UPDATE users SET signed_in_at_ms = $1 WHERE id = $2 AND signed_in_at_ms IS NULL";
        tx.execute(sql, [millis(stamp.at), user.0.into()]).await?;
        let signed_in = NewEntry::new(AuditAction::SignedIn).about(user);
        let signed_in = signed_in.with("browser", new.browser);
        signed_in.append(&mut tx, by_user(user, stamp)).await?;
        tx.commit().await?;
        Ok(Some(user))
    }

    /// Returns the user who is signed in with this cookie. A browser that was not used since `idle_since` is no longer
    /// signed in.
    pub async fn identity_of_login(
        &self,
        hash: &str,
        now: Timestamp,
        idle_since: Timestamp,
    ) -> Result<Option<Identity>, StoreError> {
        let sql = "SELECT u.id, u.role, l.expires_at_ms FROM logins l \
                   JOIN users u ON u.id = l.user_id \
                   WHERE l.hash = $1 AND l.expires_at_ms > $2 AND u.active \
                   AND (l.last_used_at_ms IS NULL OR l.last_used_at_ms > $3)";
        let values = [hash.into(), millis(now), millis(idle_since)];
        let Some(row) = self.one(sql, values).await? else {
            return Ok(None);
        };
        Ok(Some(Identity {
            user: UserId(row.get("id")?),
            role: role(&row)?,
            scope: Scope::Admin,
            token: None,
            expires_at: Some(timestamp(row.get("expires_at_ms")?)?),
        }))
    }

    /// Returns the browsers in which a user is signed in, newest first.
    pub async fn browsers(
        &self,
        user: UserId,
        now: Timestamp,
        idle_since: Timestamp,
    ) -> Result<Vec<Browser>, StoreError> {
        let sql = "SELECT hash, created_at_ms, last_used_at_ms, expires_at_ms, address, browser \
                   FROM logins WHERE user_id = $1 AND expires_at_ms > $2 \
                   AND (last_used_at_ms IS NULL OR last_used_at_ms > $3) \
                   ORDER BY created_at_ms DESC, hash";
        let values = [user.0.into(), millis(now), millis(idle_since)];
        let rows = self.all(sql, values).await?;
        rows.iter().map(browser).collect()
    }

    /// Ends one sign-in of a user. Returns `false` if there is none with this id.
    pub async fn end_sign_in(
        &self,
        user: UserId,
        id: SignInId,
        stamp: AuditStamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let sql = "SELECT hash FROM logins WHERE user_id = $1";
        for row in tx.all(sql, [user.0.into()]).await? {
            let hash: &str = row.get("hash")?;
            if sign_in_id(hash) == id {
                end_one(&mut tx, hash, "it was ended from elsewhere", stamp).await?;
                tx.commit().await?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Ends all sign-ins of a user, and the sign-in links that were not used. Returns the number of sign-ins.
    pub async fn end_sign_ins(&self, user: UserId, stamp: AuditStamp) -> Result<u64, StoreError> {
        let mut tx = self.begin().await?;
        let n_ended = end_all(&mut tx, user).await?;
        let ended = NewEntry::new(AuditAction::SignedOutEverywhere).about(user);
        let ended = ended.with("n_ended", n_ended);
        ended.append(&mut tx, stamp).await?;
        tx.commit().await?;
        Ok(n_ended)
    }

    /// Ends the sign-in with this cookie.
    pub async fn sign_out(&self, hash: &str, stamp: AuditStamp) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        end_one(&mut tx, hash, "signed out", stamp).await?;
        tx.commit().await
    }

    /// Records when browsers were last used.
    pub async fn note_browser_uses(&self, uses: &[(String, Timestamp)]) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        for (hash, at) in uses {
            let sql = "UPDATE logins SET last_used_at_ms = $1 WHERE hash = $2 \
                       AND (last_used_at_ms IS NULL OR last_used_at_ms < $1)";
            tx.execute(sql, [millis(*at), hash.as_str().into()]).await?;
        }
        tx.commit().await
    }
}

/// Stores the sign-in of a browser, and deletes expired ones.
async fn insert_login(
    tx: &mut Transaction,
    user: UserId,
    new: &NewSignIn<'_>,
    stamp: AuditStamp,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM logins WHERE expires_at_ms <= $1";
    tx.execute(sql, [millis(stamp.at)]).await?;
    let sql = "INSERT INTO logins (hash, user_id, expires_at_ms, created_at_ms, last_used_at_ms, \
               address, browser) VALUES ($1, $2, $3, $4, $4, $5, $6)";
    let address = stamp.by.address.map(|address| address.to_string());
    let values = [
        new.hash.into(),
        user.0.into(),
        millis(new.expires_at),
        millis(stamp.at),
        address.into(),
        new.browser.into(),
    ];
    tx.execute(sql, values).await?;
    Ok(())
}

/// Ends the sign-in with this cookie, if there is one.
async fn end_one(
    tx: &mut Transaction,
    hash: &str,
    how: &str,
    stamp: AuditStamp,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM logins WHERE hash = $1 RETURNING user_id";
    if let Some(row) = tx.one(sql, [hash.into()]).await? {
        let user = UserId(row.get("user_id")?);
        let ended = NewEntry::new(AuditAction::SignInEnded).about(user);
        let ended = ended.with("how", how);
        ended.append(tx, by_user(user, stamp)).await?;
    }
    Ok(())
}

/// Ends all sign-ins of a user, and the sign-in links that were not used.
pub(crate) async fn end_all(tx: &mut Transaction, user: UserId) -> Result<u64, StoreError> {
    let sql = "DELETE FROM sign_in_codes WHERE user_id = $1";
    tx.execute(sql, [user.0.into()]).await?;
    let sql = "DELETE FROM logins WHERE user_id = $1";
    tx.execute(sql, [user.0.into()]).await
}

/// Names the user as the one who signs in or out, unless somebody else is known to do it.
fn by_user(user: UserId, stamp: AuditStamp) -> AuditStamp {
    let by = Requester {
        user: stamp.by.user.or(Some(user)),
        ..stamp.by
    };
    AuditStamp { by, ..stamp }
}

fn browser(row: &Row) -> Result<Browser, StoreError> {
    let last_used_at: Option<i64> = row.get("last_used_at_ms")?;
    let created_at: Option<i64> = row.get("created_at_ms")?;
    Ok(Browser {
        id: sign_in_id(row.get("hash")?),
        created_at: created_at.map(timestamp).transpose()?,
        last_used_at: last_used_at.map(timestamp).transpose()?,
        expires_at: timestamp(row.get("expires_at_ms")?)?,
        address: row.get("address")?,
        name: row.get("browser")?,
    })
}
