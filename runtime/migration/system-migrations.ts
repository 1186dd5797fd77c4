import type { Migration } from './migration.js';

/**
 * This package's own tables, equal on every shard. Until the first release they are one migration, which creates each
 * table completely. A released migration is never changed; changes are new migrations.
 *
 * Events and actions are partitioned by their ids, which are ordered by time, so that old partitions can be detached
 * without rewriting rows. Both tables only grow. Every commit pays for each index, so events have only two: one for a
 * model's history, one for readers in commit order. The same holds for checks, whose text the server parses for every
 * statement: only one id per statement, that of the action, is checked for belonging to this shard.
 */
export const systemMigrations: readonly Migration[] = [
  {
    name: '0001_tables',
    up: `
create table eventlog.events (
  id uuid primary key,
  action_id uuid not null,
  namespace text not null,
  model_id text collate "C" not null,
  model_name text not null,
  event_type text not null,
  payload jsonb not null,
  created_date timestamptz not null,
  model_version bigint not null,
  event_version integer not null default 1,
  position bigint not null generated always as identity,
  transaction_id xid8 not null default pg_current_xact_id(),
  trace_context text
) partition by range (id);
create table eventlog.events_default partition of eventlog.events default;
create index events_of_model on eventlog.events (model_id, position);
create index events_in_order on eventlog.events (transaction_id, position);
comment on table eventlog.events is 'Outbox: one row per event, never updated';

create type eventlog.action_status as enum ('committed', 'void');
create table eventlog.actions (
  id uuid primary key check (eventlog.is_own_id(id)),
  status eventlog.action_status not null,
  namespace text not null,
  name text not null,
  principal text not null,
  started_date timestamptz not null,
  completed_date timestamptz not null,
  params jsonb,
  claims jsonb
) partition by range (id);
create table eventlog.actions_default partition of eventlog.actions default;
comment on table eventlog.actions is 'One row per attempt that reached this database; void: it can never be applied';

create table eventlog.idempotency_keys (
  principal text not null,
  operation text not null,
  key text not null check (length(key) between 1 and 255),
  fingerprint text not null,
  action_id uuid not null,
  target_group smallint not null,
  target_member smallint not null,
  result jsonb,
  created_date timestamptz not null,
  expires_date timestamptz not null,
  primary key (principal, operation, key)
);
create index idempotency_keys_by_expiry on eventlog.idempotency_keys (expires_date);

create table eventlog.journal (
  id uuid primary key check (eventlog.is_own_id(id)),
  action_name text not null,
  principal text not null,
  started_date timestamptz not null,
  parts jsonb not null,
  state text not null default 'open' check (state in ('open', 'flagged', 'closed')),
  outcome text check (outcome in ('applied', 'partial')),
  note text,
  closed_date timestamptz,
  attempts integer not null default 0,
  next_date timestamptz,
  error_message text,
  lease_owner uuid,
  lease_expires_date timestamptz,
  lease_ms bigint,
  check ((state = 'closed') = (outcome is not null and closed_date is not null)),
  check ((lease_owner is null) = (lease_expires_date is null))
);
create index journal_not_closed on eventlog.journal (id) where state <> 'closed';
create index journal_to_purge on eventlog.journal (closed_date) where state = 'closed' and outcome = 'applied';
comment on table eventlog.journal is 'Cross-shard plans, written with their first part; open: the outcome was reported to no caller';

create table eventlog.locks (
  name text primary key check (length(name) between 1 and 255),
  owner uuid,
  token bigint not null,
  expires_date timestamptz not null,
  hold_ms integer
);
create index locks_by_expiry on eventlog.locks (expires_date);
comment on column eventlog.locks.token is 'Fencing token: rises with every owner of this name';

create table eventlog.delivery_epochs (
  epoch integer primary key,
  system_identifier text not null,
  after_position bigint not null,
  opened_date timestamptz not null default now()
);
comment on table eventlog.delivery_epochs is 'Positions from which the transaction ids of each server are valid';
create table eventlog.consumers (
  name text primary key check (length(name) between 1 and 160),
  handler text not null,
  kind text not null check (kind in ('live', 'replay', 'schedules')),
  identity text not null,
  former_names text[] not null default '{}',
  epoch integer not null,
  transaction_id xid8 not null,
  position bigint not null,
  replay jsonb,
  holder text,
  fence bigint not null default 0,
  leased_until timestamptz,
  lease_ms double precision,
  leased_on text,
  waiting_for text,
  selects text[] not null default '{}',
  halted text,
  created_date timestamptz not null default now(),
  checkpoint_date timestamptz,
  finished_date timestamptz,
  started_position bigint,
  vanished boolean not null default false,
  stuck boolean not null default false,
  suspects jsonb not null default '{}'
) with (fillfactor = 50);
comment on table eventlog.consumers is 'Progress of each handler on this shard, and the process that runs it';
comment on column eventlog.consumers.halted is 'Why no process works on it until an operator resumes it';
comment on column eventlog.consumers.leased_on is 'Run of the server on which the lease was taken, and on which alone it is valid';
comment on column eventlog.consumers.started_position is 'Log position at which the current holder started';
comment on column eventlog.consumers.vanished is 'The previous holder let its lease expire';
comment on column eventlog.consumers.stuck is 'The previous holder let its lease expire without progress';
comment on column eventlog.consumers.suspects is 'Attempts by event, of those that may have killed a process';
create table eventlog.delivery_processes (
  id text primary key,
  handlers text[] not null,
  heartbeat timestamptz not null
) with (fillfactor = 50);
create table eventlog.dead_letters (
  consumer text not null references eventlog.consumers (name) on update cascade on delete cascade,
  event_id uuid not null,
  model_name text not null,
  model_id text not null,
  event_type text not null,
  epoch integer not null,
  transaction_id xid8 not null,
  position bigint not null,
  event jsonb not null,
  state text not null check (state in ('failed', 'waiting', 'discarded')),
  attempts integer not null default 0,
  error_code text,
  error_message text,
  error_stack text,
  parked_date timestamptz not null default now(),
  failed_date timestamptz,
  retry_date timestamptz,
  discarded_date timestamptz,
  note text,
  primary key (consumer, event_id)
);
create index dead_letters_in_order on eventlog.dead_letters (consumer, model_name, model_id, epoch, transaction_id, position)
  where state <> 'discarded';
comment on table eventlog.dead_letters is 'Events that a handler failed to process, and later events of the same models';

create table eventlog.schedules (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null default 'pending' check (state in ('pending', 'running', 'done', 'failed', 'cancelled')),
  due_date timestamptz not null,
  next_date timestamptz not null,
  action_name text not null,
  params jsonb not null,
  params_version integer not null default 1 check (params_version > 0),
  principal text not null,
  claims jsonb,
  action_id uuid not null,
  trace_context text,
  created_date timestamptz not null,
  attempts integer not null default 0,
  error_code text,
  error_message text,
  completed_date timestamptz
);
create index schedules_due on eventlog.schedules (next_date) where state in ('pending', 'running');
create index schedules_failed on eventlog.schedules (id) where state = 'failed';
comment on table eventlog.schedules is 'Actions to be run later, each once';
create table eventlog.recurring_actions (
  action_name text primary key,
  definition jsonb not null,
  next_date timestamptz not null,
  last_date timestamptz,
  last_id uuid,
  paused boolean not null default false,
  set_by text not null,
  set_date timestamptz not null
);
comment on table eventlog.recurring_actions is 'Actions that run again and again: each due time becomes a row of schedules';
comment on column eventlog.recurring_actions.last_date is 'Due time of the last run';
comment on column eventlog.recurring_actions.set_by is 'The delivering process whose definition it is';

create table eventlog.dropped_partitions (
  partition_name text primary key,
  table_name text not null,
  dropped_until timestamptz not null,
  dropped_date timestamptz not null default now()
);
comment on table eventlog.dropped_partitions is 'Partitions that retention has dropped: history is complete from dropped_until on';
create table eventlog.partition_marks (
  partition_name text primary key,
  lsn pg_lsn not null,
  marked_date timestamptz not null default now()
);
create table eventlog.maintenance (
  task text primary key,
  done_date timestamptz
) with (fillfactor = 50);
comment on table eventlog.maintenance is 'Tasks that any process performs on this shard, and when each last ran';

create table eventlog.sagas (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null check (state in ('RUNNING', 'PARKED', 'ENDED')),
  version bigint not null,
  saga text not null,
  step text not null,
  step_number integer not null,
  deadline timestamptz,
  failure_code text,
  failure_message text,
  created_date timestamptz not null,
  updated_date timestamptz not null,
  timeout_ms bigint
) with (fillfactor = 70);
-- A deadline is compared with the database's clock, to which a time limit is added when a plan writes the terms of a step.
create function eventlog.saga_deadline() returns trigger language plpgsql as $body$
begin
  new.deadline := now() + new.timeout_ms * interval '1 millisecond';
  return new;
end $body$;
create trigger saga_started before insert on eventlog.sagas for each row
  when (new.timeout_ms is not null) execute function eventlog.saga_deadline();
create trigger saga_moved before update on eventlog.sagas for each row
  when (new.timeout_ms is not null and new.version <> old.version and new.deadline is distinct from old.deadline)
  execute function eventlog.saga_deadline();
create index sagas_under_way on eventlog.sagas (id) where state <> 'ENDED';
comment on table eventlog.sagas is 'Progress of each saga, by the id of its state model';
create table eventlog.saga_steps (
  id uuid primary key check (eventlog.is_own_id(id)),
  state text not null check (state in ('DONE', 'VOID')),
  version bigint not null,
  saga_id uuid not null,
  step_number integer not null,
  step text not null,
  failure_code text,
  failure_message text,
  created_date timestamptz not null,
  updated_date timestamptz not null
);
comment on table eventlog.saga_steps is 'Results of the steps that sagas of other shards have performed here';

create table eventlog.default_shard (
  only_row boolean primary key default true check (only_row),
  group_number smallint not null,
  member_number smallint not null,
  stored_date timestamptz not null default now()
);
comment on table eventlog.default_shard is 'The default shard of the cluster, the same on every shard; stored at the first start';

create table eventlog.known_shards (
  group_number smallint not null,
  member_number smallint not null,
  stored_date timestamptz not null default now(),
  primary key (group_number, member_number)
);
comment on table eventlog.known_shards is 'Shards that were ever served, until a reload removes them; written on the default shard only';

create table eventlog.processes (
  id text primary key,
  name text not null,
  topology text not null,
  withheld jsonb not null default '[]',
  since_date timestamptz not null default now(),
  seen_date timestamptz not null default now()
) with (fillfactor = 50);
comment on table eventlog.processes is 'Running processes and their topologies; written on the default shard only';

create function eventlog.server_run() returns text language plpgsql stable as $body$
begin
  return left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/' || extract(epoch from pg_postmaster_start_time());
exception when others then
  return '/' || extract(epoch from pg_postmaster_start_time());
end
$body$;
comment on function eventlog.server_run() is 'Timeline, which changes with each promotion, and start of the server';
create table eventlog.timelines (
  system_identifier text not null,
  timeline text not null,
  previous text,
  noticed_date timestamptz not null default now(),
  lost_since timestamptz,
  ahead jsonb not null default '{}',
  acknowledged_date timestamptz,
  primary key (system_identifier, timeline)
);
comment on table eventlog.timelines is 'Failovers, and the handled events that each of them lost';

create table eventlog.api_keys (
  prefix text primary key,
  secret_hash text not null,
  principal text not null,
  claims jsonb not null default '{}',
  note text,
  created_date timestamptz not null default now(),
  expires_date timestamptz,
  revoked_date timestamptz
);
comment on table eventlog.api_keys is 'API keys by prefix, with a hash of each secret; written on the default shard only';

-- Unlogged: counting writes no write-ahead log, and after a server crash every bucket is full.
create unlogged table eventlog.request_limits (
  principal text not null,
  route text not null,
  granted integer not null,
  full_date timestamptz not null,
  primary key (principal, route)
) with (fillfactor = 50);
comment on table eventlog.request_limits is
  'When the token bucket of a principal for a route is full again, and what was last granted of it; on the default shard alone';
`,
  },
];
