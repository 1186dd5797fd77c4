-- fw-gen: first
-- fw-gen: tables guests
-- The table of guest.ts, written once by fw-gen. It is yours now: change the table in a later migration.
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
create unique index guests_country_passport_number_key on guests (country, passport_number) where state not in ('GONE', 'LEFT ''EM');
