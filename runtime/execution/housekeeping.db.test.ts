import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { assembleApplication } from '../application.js';
import { Decimal } from '../domain/decimal.js';
import { Housekeeping, type Purge } from './housekeeping.js';
import {
  ALICE,
  accountApplication,
  configure,
  HERE,
  makeAccounts,
  makeBank,
  OpenAction,
  THERE,
} from './test-support/accounts.js';

const INSERT = `insert into eventlog.idempotency_keys
  (principal, operation, key, fingerprint, action_id, target_group, target_member, created_date, expires_date)
  select 'alice', 'Open', n::text, 'f', gen_random_uuid(), 0, 0, now(), now() + `;

it('purges a shard in batches until one is not full, at most 20 in a round', async () => {
  const left = new Map([
    [HERE, 1_200],
    [THERE, 1_000_000],
  ]);
  const rounds: string[][] = [];
  const housekeeping = new Housekeeping({
    shards: () => {
      rounds.push([]);
      return [HERE, THERE];
    },
    purges: [
      async (shard, limit) => {
        const count = Math.min(limit, left.get(shard) ?? 0);
        left.set(shard, (left.get(shard) ?? 0) - count);
        rounds.at(-1)?.push(`${shard} ${count}`);
        return count;
      },
    ],
    intervalMs: 5,
    random: () => 0,
  });
  housekeeping.start();
  await expect.poll(() => rounds.length).toBeGreaterThan(1);
  await housekeeping.stop();
  const ended = rounds.length;
  await delay(50);
  expect(rounds).toHaveLength(ended);
  const full = Array.from({ length: 20 }, () => `${THERE} 500`);
  expect(rounds[0]).toEqual([`${HERE} 500`, `${HERE} 500`, `${HERE} 200`, ...full]);
});

describeOnEachAdapter('Housekeeping', (harness) => {
  it('deletes expired keys, at most as many as it asks for, and leaves the others', async () => {
    const bank = await makeBank(harness);
    await bank.rows(HERE, `${INSERT} interval '0 seconds' from generate_series(1, 7) n`);
    await bank.rows(HERE, `${INSERT} interval '1 hour' from generate_series(11, 13) n`);
    const { store } = bank.gateways.gateway(HERE);
    expect([await store.purgeKeys(5), await store.purgeKeys(5), await store.purgeKeys(5)]).toEqual([5, 2, 0]);
    expect(await bank.rows(HERE, 'select count(*)::int4 from eventlog.idempotency_keys')).toEqual([[3]]);
  });

  it('continues after a shard was unreachable', async () => {
    let calls = 0;
    const purge: Purge = () => {
      calls += 1;
      return Promise.reject(new Error('down'));
    };
    const housekeeping = new Housekeeping({
      shards: () => [HERE, THERE],
      purges: [purge],
      intervalMs: 5,
      random: () => 0,
    });
    housekeeping.start();
    await expect.poll(() => calls).toBeGreaterThan(4);
    await housekeeping.stop();
  });

  it('of an open application purges only expired keys', async () => {
    const databases = await makeAccounts(harness);
    const execution = { keyRetentionMs: 2_000 };
    const application = assembleApplication(accountApplication, databases, {
      namespace: 'test',
      collaborators: {},
      execution,
    });
    const keyed = configure().idempotencyKey('once').build();
    const open = { shard: HERE, balance: new Decimal(1) };
    const { id } = await application.executor.execute(ALICE, OpenAction, open, keyed);
    const count = async (table: string): Promise<number> => {
      const statement = { text: `select count(*)::int from ${table}`, values: [] };
      return Number((await databases.database(HERE).query(statement)).rows[0]?.[0]);
    };
    expect((await application.executor.execute(ALICE, OpenAction, open, keyed)).id.equals(id)).toBe(true);
    await expect.poll(() => count('eventlog.idempotency_keys'), { timeout: 10_000 }).toBe(0);
    expect([await count('eventlog.actions'), await count('accounts')]).toEqual([1, 1]);
    expect((await application.executor.execute(ALICE, OpenAction, open, keyed)).id.equals(id)).toBe(false);
    await application.close();
  });

  it('opens no connection to an unused shard', async () => {
    const databases = await makeAccounts(harness);
    const visited: string[] = [];
    for (const shard of [HERE, THERE]) {
      const database = databases.database(shard);
      const query = database.query.bind(database);
      database.query = (statement, options) => {
        visited.push(`${shard.toString()} ${/^\w+/.exec(statement.text)?.[0] ?? ''}`);
        return query(statement, options);
      };
    }
    const application = assembleApplication(accountApplication, databases, {
      namespace: 'test',
      collaborators: {},
      // Delivery and journal recovery would connect to every shard.
      deliver: false,
      execution: { keyRetentionMs: 100 },
    });
    await application.executor.execute(ALICE, OpenAction, { shard: HERE, balance: new Decimal(1) });
    await expect.poll(() => visited, { timeout: 10_000 }).toContain(`${HERE.toString()} DELETE`);
    await delay(300);
    expect(visited.filter((visit) => visit.startsWith(THERE.toString()))).toEqual([]);
    await application.close();
  });
});
