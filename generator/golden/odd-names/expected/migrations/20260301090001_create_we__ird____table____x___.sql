-- fw-gen: after 20260301090000_create_dates
-- fw-gen: tables "we*/ird `${table}` ""x"" \"
-- The table of models/new.ts, written once by fw-gen. It is yours now: change the table in a later migration.
create table "we*/ird `${table}` ""x"" \" (
  id uuid primary key,
  state text not null,
  version bigint not null,
  "a'b" text not null,
  "back`tick" text not null,
  "${1 + 1}" text not null,
  "line separator" text not null,
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
);
create unique index "we*/ird `${table}` ""x"" \_a'b_key" on "we*/ird `${table}` ""x"" \" ("a'b");
