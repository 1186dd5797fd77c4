import pg from 'pg';
import type { ServerAddress } from '../databases/server.js';

export interface WalletRow {
  readonly id: string;
  readonly version: number;
  readonly state: string;
  readonly owner_id: string;
  readonly balance: string;
}

export interface EventRow {
  readonly id: string;
  readonly action_id: string;
  readonly model_id: string;
  readonly model_name: string;
  readonly model_version: number;
  readonly event_type: string;
  readonly payload: {
    readonly amount?: string;
    readonly newBalance?: string;
    readonly ownerId?: string;
    readonly initialBalance?: string;
  };
}

export interface ActionRow {
  readonly id: string;
  readonly status: 'committed' | 'void';
  readonly name: string;
}

export interface KeyRow {
  readonly principal: string;
  readonly operation: string;
  readonly key: string;
  readonly action_id: string;
  readonly target_group: number;
  readonly target_member: number;
  readonly has_result: boolean;
}

export interface JournalRow {
  readonly id: string;
  readonly state: 'open' | 'flagged' | 'closed';
  readonly outcome: 'applied' | 'partial' | null;
}

/** The content of one shard's database. */
export interface ShardRows {
  readonly group: number;
  readonly member: number;
  readonly wallets: readonly WalletRow[];
  readonly events: readonly EventRow[];
  readonly actions: readonly ActionRow[];
  readonly keys: readonly KeyRow[];
  readonly journal: readonly JournalRow[];
}

/** Reads a shard's rows without the runtime and the proxies, in one snapshot. */
export async function readRows(
  server: ServerAddress,
  database: string,
  shard: { readonly group: number; readonly member: number },
): Promise<ShardRows> {
  const client = await connectTo(server, database);
  const all = async <Row>(sql: string): Promise<Row[]> => (await client.query(sql)).rows as Row[];
  try {
    await client.query('begin isolation level repeatable read');
    return {
      group: shard.group,
      member: shard.member,
      wallets: await all('select id, version::int, state, owner_id, balance::text from wallets'),
      events: await all(
        'select id, action_id, model_id, model_name, model_version::int, event_type, payload from eventlog.events ' +
          'order by model_id, model_version, position',
      ),
      actions: await all('select id, status, name from eventlog.actions'),
      keys: await all(
        'select principal, operation, key, action_id, target_group, target_member, result is not null as has_result ' +
          'from eventlog.idempotency_keys',
      ),
      journal: await all('select id, state, outcome from eventlog.journal'),
    };
  } finally {
    await client.end();
  }
}

/** Waits until no earlier statement can still be applied. */
export async function untilQuiet(server: ServerAddress, database: string): Promise<void> {
  const client = await connectTo(server, database);
  try {
    for (let attempt = 0; attempt < 200; attempt += 1) {
      const { rowCount } = await client.query(
        `select from pg_stat_activity where datname = $1 and pid <> pg_backend_pid() and state <> 'idle'`,
        [database],
      );
      if (rowCount === 0) return;
      await client.query('select pg_sleep(0.05)');
    }
    throw new Error(`Sessions of ${database} are still active`);
  } finally {
    await client.end();
  }
}

/** A client of the test. */
export async function connectTo(
  { host, port, user, password }: ServerAddress,
  database: string,
): Promise<pg.Client> {
  const client = new pg.Client({ host, port, user, password, database });
  client.on('error', () => {});
  await client.connect();
  return client;
}
