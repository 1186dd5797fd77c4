// First migration of the table `things`, written once from thing.ts.
// It is yours now: fw-gen does not write it again. Change the table in a migration with a later name.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '20260301090000_create_things',
  `
-- fw-gen: first
-- fw-gen: tables things
create table things (
  id uuid primary key,
  state text not null,
  version bigint not null,
  title text not null,
  "order" text,
  weight numeric(19,4) check (weight not in ('NaN', 'Infinity', '-Infinity')),
  tags jsonb not null,
  created_date timestamptz not null,
  updated_date timestamptz not null,
  constraint rule_things_title_min_length_836a9d3f check (char_length(title) >= 1),
  constraint rule_things_title_max_length_f1bdfed9 check (char_length(title) <= 40),
  constraint rule_things_order_pattern_b20c2614 check ("order" ~ '^[A-Za-z0-9_.-]+@x\\.y''s$'),
  constraint rule_things_weight_maximum_77a20bb3 check (weight <= 10),
  constraint rule_things_weight_exclusive_minimum_0bd07c63 check (weight > -1.5),
  constraint rule_things_tags_min_items_2b47a826 check (jsonb_array_length(tags) >= 1),
  constraint rule_things_tags_max_items_e95e37c0 check (jsonb_array_length(tags) <= 3)
)
`,
);
