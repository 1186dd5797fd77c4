import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration('0002_note', 'alter table things add column note text');
