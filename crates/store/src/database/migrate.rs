//! Migrates a database to the current schema.

use super::{Store, StoreError, Value};

/// A step of the schema's history. A released step is never edited.
struct Migration {
    number: i64,
    sql: &'static str,
}

/// All migrations, oldest first. Both databases run the same SQL: SQLite accepts types that it does not have and
/// stores the values as they are.
const MIGRATIONS: &[Migration] = &[
    Migration {
        number: 1,
        sql: include_str!("../../migrations/0001_sessions.sql"),
    },
    Migration {
        number: 2,
        sql: include_str!("../../migrations/0002_queue.sql"),
    },
    Migration {
        number: 3,
        sql: include_str!("../../migrations/0003_people.sql"),
    },
    Migration {
        number: 4,
        sql: include_str!("../../migrations/0004_decisions.sql"),
    },
    Migration {
        number: 5,
        sql: include_str!("../../migrations/0005_lease.sql"),
    },
    Migration {
        number: 6,
        sql: include_str!("../../migrations/0006_limits.sql"),
    },
    Migration {
        number: 7,
        sql: include_str!("../../migrations/0007_answers.sql"),
    },
    Migration {
        number: 8,
        sql: include_str!("../../migrations/0008_secrets.sql"),
    },
    Migration {
        number: 9,
        sql: include_str!("../../migrations/0009_budgets.sql"),
    },
    Migration {
        number: 10,
        sql: include_str!("../../migrations/0010_choice.sql"),
    },
    Migration {
        number: 11,
        sql: include_str!("../../migrations/0011_servers.sql"),
    },
    Migration {
        number: 12,
        sql: include_str!("../../migrations/0012_standing.sql"),
    },
    Migration {
        number: 13,
        sql: include_str!("../../migrations/0013_audit.sql"),
    },
    Migration {
        number: 14,
        sql: include_str!("../../migrations/0014_offers.sql"),
    },
    Migration {
        number: 15,
        sql: include_str!("../../migrations/0015_briefing.sql"),
    },
    Migration {
        number: 16,
        sql: include_str!("../../migrations/0016_sealed_origins.sql"),
    },
    Migration {
        number: 17,
        sql: include_str!("../../migrations/0017_retention.sql"),
    },
    Migration {
        number: 18,
        sql: include_str!("../../migrations/0018_network.sql"),
    },
    Migration {
        number: 19,
        sql: include_str!("../../migrations/0019_shared_ports.sql"),
    },
    Migration {
        number: 20,
        sql: include_str!("../../migrations/0020_http_secrets.sql"),
    },
    Migration {
        number: 21,
        sql: include_str!("../../migrations/0021_attachments.sql"),
    },
    Migration {
        number: 22,
        sql: include_str!("../../migrations/0022_layout.sql"),
    },
    Migration {
        number: 23,
        sql: include_str!("../../migrations/0023_instructions_by.sql"),
    },
    Migration {
        number: 24,
        sql: include_str!("../../migrations/0024_computer.sql"),
    },
    Migration {
        number: 25,
        sql: include_str!("../../migrations/0025_mcp_servers.sql"),
    },
    Migration {
        number: 26,
        sql: include_str!("../../migrations/0026_start_url.sql"),
    },
    Migration {
        number: 27,
        sql: include_str!("../../migrations/0027_watch_links.sql"),
    },
    Migration {
        number: 28,
        sql: include_str!("../../migrations/0028_streams.sql"),
    },
    Migration {
        number: 30,
        sql: include_str!("../../migrations/0030_evals.sql"),
    },
    Migration {
        number: 31,
        sql: include_str!("../../migrations/0031_effort_and_held.sql"),
    },
    Migration {
        number: 32,
        sql: include_str!("../../migrations/0032_streams_apart.sql"),
    },
];

/// The advisory lock that keeps two starting servers from migrating at the same time on PostgreSQL. It can be any
/// number that no other program is likely to use.
const LOCK: i64 = 0x6465_736b_6861_6e64;

impl Store {
    /// Applies the missing migrations, all of them or none.
    pub(super) async fn migrate(&self) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        if tx.is_postgres() {
            let lock = "SELECT 1 AS locked FROM pg_advisory_xact_lock($1)";
            tx.one(lock, [LOCK.into()]).await?;
        }
        let sql = "CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY)";
        tx.run_script(sql).await?;
        let newest = "SELECT COALESCE(MAX(number), 0) AS newest FROM migrations";
        let newest: i64 = match tx.one(newest, []).await? {
            Some(row) => row.get("newest")?,
            None => 0,
        };
        let newest_known = MIGRATIONS.last().map_or(0, |migration| migration.number);
        if newest > newest_known {
            return Err(StoreError::Newer {
                found: newest,
                known: newest_known,
            });
        }
        for migration in MIGRATIONS.iter().filter(|step| step.number > newest) {
            tx.run_script(migration.sql).await?;
            let number = Value::from(migration.number);
            tx.execute("INSERT INTO migrations (number) VALUES ($1)", [number])
                .await?;
        }
        tx.commit().await
    }
}
