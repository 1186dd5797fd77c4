// First migration of the table `widgets`, written once from gadget.ts.
// It is yours now: fw-gen does not write it again. Change the table in a migration with a later name.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '20260301090000_create_widgets',
  `
-- fw-gen: after 0003_by_hand
-- fw-gen: tables widgets
create table widgets (
  id uuid primary key,
  state text not null,
  version bigint not null,
  created_date timestamptz not null,
  updated_date timestamptz not null
)
`,
);
