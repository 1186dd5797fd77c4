import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '0003_by_hand',
  'CREATE TABLE IF NOT EXISTS gadgets (id uuid primary key); create table "Quoted Name" (id uuid)',
);
