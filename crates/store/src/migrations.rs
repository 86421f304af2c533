//! Migrations, oldest first. A migration that was released is never edited.

use sea_orm_migration::{MigrationTrait, MigratorTrait};

mod m0001_sessions;

#[derive(Debug)]
pub(crate) struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![Box::new(m0001_sessions::Migration)]
    }
}
