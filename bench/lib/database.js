import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { withBuild } from './product.js';
import { ID_PREFIX, WALLETS } from './wallets.js';

/** Runs work on its own client. */
export async function withClient(connection, work) {
  const client = new pg.Client(connection);
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** A fresh database with wallets: the framework's own schema, or the peers'. */
export async function createDatabase(server, name, schema, build) {
  const connection = { ...server.connection, database: name };
  await withClient(server.connection, async (admin) => {
    await admin.query(`drop database if exists ${name} with (force)`);
    await admin.query(`create database ${name}`);
  });
  if (schema === 'framework') await migrateWallet(connection, build);
  await withClient(connection, async (client) => {
    if (schema === 'peer') await client.query(PEER_SCHEMA);
    await client.query(SEED);
    await client.query('vacuum (analyze) wallets');
  });
  return connection;
}

/** In a separate process, because one process uses the product of one build. */
async function migrateWallet(connection, build) {
  const main = fileURLToPath(new URL('./migrate-main.js', import.meta.url));
  await promisify(execFile)(process.execPath, [main, JSON.stringify(connection)], { env: withBuild(build) });
}

export function dropDatabase(server, name) {
  return withClient(server.connection, (admin) =>
    admin.query(`drop database if exists ${name} with (force)`),
  );
}

/**
 * The same columns and indexes as the framework's tables, without the framework's own features: no partitions, no check
 * of ids.
 */
const PEER_SCHEMA = `
create table wallets (
  id uuid primary key,
  state text not null,
  version bigint not null,
  owner_id uuid not null,
  currency char(3) not null,
  balance numeric(19,4) not null check (balance not in ('NaN', 'Infinity', '-Infinity')),
  created_date timestamptz not null,
  updated_date timestamptz not null
);
create table events (
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
);
create index events_of_model on events (model_id, position);
create index events_in_order on events (transaction_id, position);
create table actions (
  id uuid primary key,
  status text not null,
  namespace text not null,
  name text not null,
  principal text not null,
  started_date timestamptz not null,
  completed_date timestamptz not null,
  params jsonb,
  result jsonb
);
`;

const SEED = `
insert into wallets (id, state, version, owner_id, currency, balance, created_date, updated_date)
select ('${ID_PREFIX}' || lpad(to_hex(n), 12, '0'))::uuid, 'OPENED', 1, gen_random_uuid(), 'EUR', 0, now(), now()
from generate_series(0, ${WALLETS - 1}) as n
`;

/** What is stored: money in cents, versions gained and events. */
export async function readTotals(connection, schema) {
  const events = schema === 'framework' ? 'eventlog.events' : 'events';
  return withClient(connection, async (client) => {
    const { rows } = await client.query(
      `select (select sum(balance) * 100 from wallets)::bigint as cents,
              (select sum(version - 1) from wallets)::bigint as versions,
              (select count(*) from ${events})::bigint as events`,
    );
    return {
      cents: Number(rows[0].cents),
      versions: Number(rows[0].versions),
      events: Number(rows[0].events),
    };
  });
}

/** Describes the difference between the acknowledged and the stored values; undefined if there is none. */
export function findMismatch(totals, acknowledged) {
  const { cents, versions, events } = totals;
  const right =
    cents === acknowledged.cents && versions === acknowledged.deposits && events === acknowledged.deposits;
  return right ? undefined : `stored ${JSON.stringify(totals)}, acknowledged ${JSON.stringify(acknowledged)}`;
}
