// First migration of the table `guests`, written once from guest.ts.
// It is yours now: fw-gen does not write it again. Change the table in a migration with a later name.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '20260301090000_create_guests',
  `
-- fw-gen: first
-- fw-gen: tables guests
create table guests (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null,
  version bigint not null,
  country text not null,
  passport_number text not null,
  email text not null,
  nickname text,
  created_date timestamptz not null,
  updated_date timestamptz not null
);
create unique index guests_email_key on guests (email) where state not in ('GONE', 'LEFT ''EM');
create unique index guests_country_passport_number_key on guests (country, passport_number) where state not in ('GONE', 'LEFT ''EM')
`,
);
