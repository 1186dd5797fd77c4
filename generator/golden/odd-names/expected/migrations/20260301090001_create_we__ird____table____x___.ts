// First migration of the table `we*\/ird `${table}` "x" \`, written once from models/new.ts.
// It is yours now: fw-gen does not write it again. Change the table in a migration with a later name.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '20260301090001_create_we__ird____table____x___',
  `
-- fw-gen: after 20260301090000_create_dates
-- fw-gen: tables "we*/ird \`\${table}\` ""x"" \\"
create table "we*/ird \`\${table}\` ""x"" \\" (
  id uuid primary key,
  state text not null,
  version bigint not null,
  "a'b" text not null,
  "back\`tick" text not null,
  "\${1 + 1}" text not null,
  "line\u2028separator" text not null,
  "*/ comment" text not null,
  "with space" text,
  "1" double precision not null check ("1" not in ('NaN', 'Infinity', '-Infinity')),
  "default" text not null,
  class text not null,
  await boolean not null,
  "größe" double precision not null check ("größe" not in ('NaN', 'Infinity', '-Infinity')),
  "$" text not null,
  abc text not null,
  "user" text not null,
  created_date timestamptz not null,
  updated_date timestamptz not null
)
`,
);
