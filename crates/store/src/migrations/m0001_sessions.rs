//! People, sessions, messages and the event log.
//!
//! Times are milliseconds since 1970 and JSON is text: both databases keep them alike, and an
//! event's data goes out as it came in.

use sea_orm_migration::{
    prelude::{
        Alias, DbErr, DeriveMigrationName, ForeignKey, Index, MigrationTrait, SchemaManager, Table,
        TableCreateStatement,
    },
    schema::{big_integer, big_integer_null, integer, string, text, uuid, uuid_null},
};

#[derive(Debug, DeriveMigrationName)]
pub(crate) struct Migration;

#[expect(
    elided_lifetimes_in_paths,
    reason = "the trait binds this lifetime early"
)]
#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in [
            users(),
            tokens(),
            sign_in_codes(),
            logins(),
            sessions(),
            messages(),
            events(),
            blobs(),
        ] {
            manager.create_table(table).await?;
        }
        // The list of sessions: newest first, of one owner.
        manager
            .create_index(
                Index::create()
                    .name("sessions_by_owner")
                    .table("sessions")
                    .col("owner_id")
                    .col("id")
                    .to_owned(),
            )
            .await?;
        // The queue, and the conversation in order.
        manager
            .create_index(
                Index::create()
                    .name("messages_by_session")
                    .table("messages")
                    .col("session_id")
                    .col("seq")
                    .to_owned(),
            )
            .await
    }
}

fn users() -> TableCreateStatement {
    Table::create()
        .table("users")
        .col(uuid("id").primary_key())
        .col(string("name").unique_key())
        // `admin` or `member`.
        .col(string("role"))
        .col(big_integer("created_at_ms"))
        .to_owned()
}

/// API tokens. Only the SHA-256 is kept.
fn tokens() -> TableCreateStatement {
    Table::create()
        .table("tokens")
        .col(string("hash").primary_key())
        .col(uuid("user_id"))
        .col(big_integer("created_at_ms"))
        .foreign_key(&mut to("tokens", "user_id", "users"))
        .to_owned()
}

/// Codes of sign-in links, good once. Only the SHA-256 is kept.
fn sign_in_codes() -> TableCreateStatement {
    Table::create()
        .table("sign_in_codes")
        .col(string("hash").primary_key())
        .col(uuid("user_id"))
        .col(big_integer("expires_at_ms"))
        .foreign_key(&mut to("sign_in_codes", "user_id", "users"))
        .to_owned()
}

/// Browsers that are signed in, by the SHA-256 of their cookie.
fn logins() -> TableCreateStatement {
    Table::create()
        .table("logins")
        .col(string("hash").primary_key())
        .col(uuid("user_id"))
        .col(big_integer("expires_at_ms"))
        .foreign_key(&mut to("logins", "user_id", "users"))
        .to_owned()
}

fn sessions() -> TableCreateStatement {
    Table::create()
        .table("sessions")
        .col(uuid("id").primary_key())
        .col(uuid("owner_id"))
        .col(string("title"))
        .col(string("model"))
        .col(text("metadata"))
        .col(string("phase"))
        .col(string("sandbox"))
        // The turn that is being worked on, if one is.
        .col(uuid_null("turn_id"))
        .col(big_integer("last_seq"))
        .col(big_integer("created_at_ms"))
        .col(big_integer("updated_at_ms"))
        .foreign_key(&mut to("sessions", "owner_id", "users"))
        .to_owned()
}

fn messages() -> TableCreateStatement {
    Table::create()
        .table("messages")
        .col(uuid("id").primary_key())
        .col(uuid("session_id"))
        // The number of the event that tells of it: its place in the conversation.
        .col(big_integer("seq"))
        .col(string("role"))
        .col(text("content"))
        .col(uuid_null("author_id"))
        .col(big_integer("created_at_ms"))
        // When a turn took it up. A prompt without it is waiting.
        .col(big_integer_null("taken_at_ms"))
        .foreign_key(&mut to("messages", "session_id", "sessions"))
        .to_owned()
}

fn events() -> TableCreateStatement {
    Table::create()
        .table("events")
        .col(uuid("session_id"))
        .col(big_integer("seq"))
        .col(integer("version"))
        .col(string("kind"))
        .col(big_integer("at_ms"))
        .col(text("data"))
        .primary_key(Index::create().col("session_id").col("seq"))
        .foreign_key(&mut to("events", "session_id", "sessions"))
        .to_owned()
}

/// Which session shows which blob: the right to see a blob follows from the session's.
fn blobs() -> TableCreateStatement {
    Table::create()
        .table("session_blobs")
        .col(string("blob"))
        .col(uuid("session_id"))
        .primary_key(Index::create().col("blob").col("session_id"))
        .foreign_key(&mut to("session_blobs", "session_id", "sessions"))
        .to_owned()
}

fn to(
    from: &'static str,
    column: &'static str,
    table: &'static str,
) -> sea_orm_migration::prelude::ForeignKeyCreateStatement {
    ForeignKey::create()
        .from(Alias::new(from), Alias::new(column))
        .to(Alias::new(table), Alias::new("id"))
        .to_owned()
}
