// Not a migration.
