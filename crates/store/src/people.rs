//! Users.

use deskhand_core::{
    audit::{AuditAction, AuditStamp},
    id::UserId,
    user::{User, UserPage, UserRole},
};
use jiff::Timestamp;

use crate::{
    audit::NewEntry,
    database::{Row, Store, StoreError, Transaction, Value, millis, timestamp},
    sign_ins::end_all,
};

const COLUMNS: &str = "id, name, role, active, created_at_ms";

/// A user to be created.
#[derive(Debug)]
pub struct NewUser<'a> {
    pub id: UserId,
    pub name: &'a str,
    pub role: UserRole,
    pub created_at: Timestamp,
}

/// Changes to a user.
#[derive(Debug, Default)]
pub struct UserChange<'a> {
    pub name: Option<&'a str>,
    pub role: Option<UserRole>,
    pub active: Option<bool>,
}

/// The result of changing a user.
#[derive(Debug, PartialEq, Eq)]
pub enum ChangedUser {
    Changed(User),
    NoUser,
    NameTaken,
    /// No active administrator would be left.
    LastAdmin,
}

impl Store {
    /// Returns the first active administrator, if there is one yet.
    pub async fn admin(&self) -> Result<Option<User>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM users WHERE role = 'admin' AND active ORDER BY id LIMIT 1"
        );
        self.one(&sql, []).await?.map(|row| user(&row)).transpose()
    }

    /// Creates a user. Returns `false` if the name is taken.
    pub async fn insert_user(
        &self,
        new: NewUser<'_>,
        stamp: AuditStamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let sql = "INSERT INTO users (id, name, role, created_at_ms) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT DO NOTHING";
        let values = [
            new.id.0.into(),
            new.name.into(),
            new.role.name().into(),
            millis(new.created_at),
        ];
        if tx.execute(sql, values).await? == 0 {
            return Ok(false);
        }
        let created = NewEntry::new(AuditAction::UserCreated).about(new.id);
        let created = created.with("role", new.role.name());
        created.append(&mut tx, stamp).await?;
        tx.commit().await?;
        Ok(true)
    }

    pub async fn user(&self, id: UserId) -> Result<Option<User>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM users WHERE id = $1");
        let row = self.one(&sql, [id.0.into()]).await?;
        row.map(|row| user(&row)).transpose()
    }

    /// Returns the user of this name, regardless of case.
    pub async fn user_named(&self, name: &str) -> Result<Option<User>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM users WHERE lower(name) = lower($1)");
        let row = self.one(&sql, [name.into()]).await?;
        row.map(|row| user(&row)).transpose()
    }

    /// Returns the users created after `after`, oldest first.
    pub async fn users(&self, after: Option<UserId>, limit: u32) -> Result<UserPage, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM users WHERE ($1 IS NULL OR id > $1) ORDER BY id LIMIT $2"
        );
        let after: Value = after.map(|id| id.0).into();
        let values = [after, i64::from(limit.saturating_add(1)).into()];
        let rows = self.all(&sql, values).await?;
        let mut users = rows.iter().map(user).collect::<Result<Vec<_>, _>>()?;
        let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = users.len() > wanted;
        users.truncate(wanted);
        let next = users.last().filter(|_| more).map(|last| last.id);
        Ok(UserPage { users, next })
    }

    /// Changes a user. Disabling a user also signs them out and deletes their sign-in links, in the same transaction.
    /// Their tokens are refused while they are disabled.
    pub async fn change_user(
        &self,
        id: UserId,
        change: UserChange<'_>,
        stamp: AuditStamp,
    ) -> Result<ChangedUser, StoreError> {
        let mut tx = self.begin().await?;
        // The rows are locked, so that if two administrators disable each other, one stays.
        let lock = if tx.is_postgres() { "FOR UPDATE" } else { "" };
        let sql = format!(
            "SELECT {COLUMNS} FROM users WHERE (role = 'admin' AND active) OR id = $1 ORDER BY id {lock}"
        );
        let rows = tx.all(&sql, [id.0.into()]).await?;
        let held = rows.iter().map(user).collect::<Result<Vec<_>, _>>()?;
        let Some(before) = held.iter().find(|user| user.id == id) else {
            return Ok(ChangedUser::NoUser);
        };
        let after = User {
            name: change.name.unwrap_or(&before.name).to_owned(),
            role: change.role.unwrap_or(before.role),
            active: change.active.unwrap_or(before.active),
            ..before.clone()
        };
        if is_admin(before)
            && !is_admin(&after)
            && held.iter().filter(|user| is_admin(user)).count() == 1
        {
            return Ok(ChangedUser::LastAdmin);
        }
        let sql = "UPDATE users SET name = $1, role = $2, active = $3 WHERE id = $4";
        let values = [
            after.name.as_str().into(),
            after.role.name().into(),
            after.active.into(),
            id.0.into(),
        ];
        match tx.execute(sql, values).await {
            Ok(_) => {}
            Err(StoreError::Database(error)) if error.is_duplicate() => {
                return Ok(ChangedUser::NameTaken);
            }
            Err(error) => return Err(error),
        }
        if !after.active {
            end_all(&mut tx, id).await?;
        }
        let changes = difference(before, &after);
        if !changes.is_empty() {
            let changed = NewEntry::new(AuditAction::UserChanged).about(id);
            let changed = changed.with("changes", changes.join(", "));
            changed.append(&mut tx, stamp).await?;
        }
        tx.commit().await?;
        Ok(ChangedUser::Changed(after))
    }
}

/// Describes the changes to a user in words.
fn difference(before: &User, after: &User) -> Vec<String> {
    let mut changes = Vec::new();
    if before.name != after.name {
        changes.push(format!("the name was {}", before.name));
    }
    if before.role != after.role {
        changes.push(format!("the role is {}", after.role.name()));
    }
    if before.active != after.active {
        let state = if after.active { "enabled" } else { "disabled" };
        changes.push(state.to_owned());
    }
    changes
}

fn is_admin(user: &User) -> bool {
    user.role == UserRole::Admin && user.active
}

pub(crate) fn role(row: &Row) -> Result<UserRole, StoreError> {
    let name: String = row.get("role")?;
    UserRole::from_name(&name)
        .ok_or_else(|| StoreError::Unreadable(format!("{name:?} is not a role")))
}

/// Returns the current name of a user.
pub(crate) async fn name_of(tx: &mut Transaction, user: UserId) -> Result<String, StoreError> {
    let row = tx
        .one("SELECT name FROM users WHERE id = $1", [user.0.into()])
        .await?;
    let row = row.ok_or_else(|| StoreError::Gone(format!("user {user}")))?;
    row.get("name")
}

fn user(row: &Row) -> Result<User, StoreError> {
    Ok(User {
        id: UserId(row.get("id")?),
        name: row.get("name")?,
        role: role(row)?,
        active: row.get("active")?,
        created_at: timestamp(row.get("created_at_ms")?)?,
    })
}
