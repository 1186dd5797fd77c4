import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rowsAsOwner } from '../../../test/databases/roles.js';
import { describeOn, describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { openDatabases } from '../../databases.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { type Account, accountModel } from '../../domain/test-support/account.js';
import { DeadlineExceededError, FwError, ValidationError } from '../../errors.js';
import { changedMembers, withPrimary } from '../../sharding/test-support/changed-topology.js';
import { wrappedRegistry } from '../../sharding/test-support/wrapped-registry.js';
import {
  AccountLists,
  accountMigrations,
  idsInOneTable,
  removeAccounts,
  storeAccount,
} from '../test-support/account-lists.js';
import { type CursorScope, encodeCursor, type Page, type PageRequest } from './page.js';
import type { SortTerm } from './sort-order.js';

const FIVE = [
  ShardIdentifier.of(0, 0),
  ShardIdentifier.of(0, 1),
  ShardIdentifier.of(1, 0),
  ShardIdentifier.of(1, 1),
  ShardIdentifier.of(1, 2),
];
/** Embedded databases start slowly, so these cases use two shards. */
const TWO = FIVE.slice(1, 3);

const ids = (accounts: readonly Account[]): readonly string[] => accounts.map(({ id }) => id.getValue());

/** Text whose order differs between code points, UTF-16 units and the collations of natural languages. */
const nickname = fc.option(fc.constantFrom('', 'a', 'B', 'b', 'ä', 'z', '_', 'ﬁ', '\u{1F600}', 'a b', 'a-b'));
const row = fc.record({
  shard: fc.nat(4),
  nickname,
  balance: fc.constantFrom('0', '-1', '1.5', '1.50', '10', '9', '123456789012345.6789'),
  created: fc.constantFrom(
    '2024-06-01T08:00:00Z',
    '2024-06-01T08:00:00.000001Z',
    '2024-06-01T08:00:00.000002Z',
  ),
  state: fc.constantFrom('OPEN' as const, 'OPEN' as const, 'OPEN' as const, 'GONE' as const),
});
const direction = fc.constantFrom('asc' as const, 'desc' as const);
const terms = fc.uniqueArray(
  fc.record({
    field: fc.constantFrom('nickname', 'balance', 'createdDate', 'id', 'state', 'version'),
    direction,
  }),
  { selector: ({ field }) => field, maxLength: 3 },
) as fc.Arbitrary<readonly SortTerm<Account>[]>;

const SQL: Readonly<Record<string, string>> = {
  nickname: 'nickname collate "C"',
  balance: 'balance',
  createdDate: 'created_date',
  id: 'id',
  state: 'state collate "C"',
  version: 'version',
};

function orderSql(orderBy: readonly SortTerm<Account>[]): string {
  const last = orderBy.at(-1)?.direction ?? 'asc';
  return [...orderBy, { field: 'id', direction: last }]
    .map((term) => `${SQL[term.field]} ${term.direction ?? 'asc'}`)
    .join(', ');
}

describeOnEachAdapter('Pages over all shards', (harness) => {
  const shards = harness.adapter === 'pglite' ? TWO : FIVE;
  const open = async () => {
    const databases = await harness.makeShards({ shards, migrations: accountMigrations });
    return { databases, lists: new AccountLists(databases) };
  };
  const shardOf = (index: number): ShardIdentifier =>
    shards[index % shards.length] ?? ShardIdentifier.of(0, 0);

  it('form one sorted list without gaps or duplicates while rows are inserted', async () => {
    const { databases, lists } = await open();
    const store = (rows: readonly { readonly shard: number }[]) =>
      Promise.all(rows.map((each) => storeAccount(databases, { ...each, shard: shardOf(each.shard) })));
    const property = fc.asyncProperty(
      fc.array(row, { maxLength: 25 }),
      fc.array(fc.array(row, { maxLength: 3 }), { maxLength: 4 }),
      terms,
      fc.integer({ min: 1, max: 7 }),
      async (rows, batches, orderBy, limit) => {
        await removeAccounts(databases);
        const inserted = new Map((await store(rows)).map((id) => [id, '']));
        const visited: string[] = [];
        const pending = [...batches];
        let cursor: string | undefined;
        do {
          const page = await lists.page({ limit, cursor }, { orderBy });
          visited.push(...ids(page.items));
          cursor = page.next ?? undefined;
          // Each row records the sort key up to which the list had been read when the row was inserted.
          if (cursor !== undefined) {
            for (const id of await store(pending.shift() ?? [])) inserted.set(id, visited.at(-1) ?? '');
          }
        } while (cursor !== undefined);
        const sorted = await idsInOneTable(databases, orderSql(orderBy));
        const place = new Map(sorted.map((id, index) => [id, index]));
        const expected = sorted.filter(
          (id) => (place.get(id) ?? 0) > (place.get(inserted.get(id) ?? '') ?? -1),
        );
        expect(visited).toEqual(expected);
      },
    );
    await fc.assert(property, { numRuns: 20 });
  });

  it('are streamed in the same order, one page of each shard at a time', async () => {
    const { databases, lists } = await open();
    const property = fc.asyncProperty(
      fc.array(row, { maxLength: 25 }),
      terms,
      fc.integer({ min: 1, max: 4 }),
      async (rows, orderBy, pageSize) => {
        await removeAccounts(databases);
        for (const each of rows) await storeAccount(databases, { ...each, shard: shardOf(each.shard) });
        const streamed: string[] = [];
        for await (const account of lists.all({ orderBy, pageSize })) streamed.push(account.id.getValue());
        expect(streamed).toEqual(await idsInOneTable(databases, orderSql(orderBy)));
      },
    );
    await fc.assert(property, { numRuns: 20 });
  });

  it('keep at most one page of each shard in memory', async () => {
    const { databases } = await open();
    let fetched = 0;
    let largest = 0;
    const counting = wrappedRegistry(databases, async (_, send) => {
      const result = await send();
      fetched += result.rows.length;
      largest = Math.max(largest, result.rows.length);
      return result;
    });
    for (let count = 0; count < 12 * shards.length; count += 1)
      await storeAccount(databases, { shard: shardOf(count), balance: String(count % 5) });
    const lists = new AccountLists(counting);
    const orderBy = [{ field: 'balance' }] as const;
    await lists.page({ limit: 4 }, { orderBy });
    // One more shows whether there is a next page.
    expect(largest).toBeLessThanOrEqual(5);
    expect(fetched).toBeLessThanOrEqual(5 * shards.length);
    fetched = 0;
    let streamed = 0;
    let most = 0;
    for await (const _ of lists.all({ orderBy, pageSize: 3 })) {
      most = Math.max(most, fetched - streamed);
      streamed += Number(_ !== undefined);
    }
    expect(streamed).toBe(12 * shards.length);
    expect(most).toBeLessThanOrEqual(4 * shards.length);
  });

  it('hide deleted models by default, and refuse the cursor of a list that includes them', async () => {
    const { databases, lists } = await open();
    for (const state of ['OPEN', 'GONE', 'OPEN'] as const) {
      await storeAccount(databases, { shard: shardOf(0), state });
    }
    const states = async (request: PageRequest, includeDeleted?: boolean) => {
      const list = includeDeleted === undefined ? {} : { includeDeleted };
      return (await lists.page(request, list)).items.map(({ state }) => state);
    };
    expect(await states({})).toEqual(['OPEN', 'OPEN']);
    expect(await states({}, true)).toEqual(['OPEN', 'GONE', 'OPEN']);
    expect((await lists.many({ limit: 5 })).length).toBe(2);
    expect((await lists.many({ limit: 5, includeDeleted: true })).length).toBe(3);
    const { next } = await lists.page({ limit: 1 });
    await expect(states({ cursor: next ?? '' }, true)).rejects.toThrow('cursor was not issued by this list');
  });

  it('hide deleted models whose state is in a column of another name', async () => {
    const { databases } = await open();
    for (const state of ['OPEN', 'GONE'] as const)
      await storeAccount(databases, { shard: shardOf(0), state });
    for (const shard of databases.shards())
      await rowsAsOwner(databases, shard, 'alter table accounts rename column state to status');
    const columns = accountModel.columns.map((column) =>
      column.field === 'state' ? { ...column, column: 'status' } : column,
    );
    const { items } = await new AccountLists(databases, { ...accountModel, columns }).page({});
    expect(items.map(({ state }) => state)).toEqual(['OPEN']);
  });

  it('refuse cursors of lists with other conditions or other values in them', async () => {
    const { databases, lists } = await open();
    for (const balance of ['1', '2', '3']) await storeAccount(databases, { shard: shardOf(0), balance });
    const above = (least: string, request: PageRequest, filters?: CursorScope): Promise<Page<Account>> =>
      lists.page(request, {
        where: (query) => query.where('balance', '>', least),
        ...(filters !== undefined && { filters }),
      });
    const cursor = (await above('0', { limit: 1 })).next ?? '';
    expect((await above('0', { cursor })).items).toHaveLength(2);
    const refusal = 'cursor was not issued by this list';
    await expect(above('1', { cursor })).rejects.toThrow(refusal);
    await expect(lists.page({ cursor })).rejects.toThrow(refusal);
    const ofState = lists.page({ cursor }, { where: (query) => query.where('state', '=', '0') });
    await expect(ofState).rejects.toThrow(refusal);
    await expect(lists.partialPage({ cursor })).rejects.toThrow(refusal);
    // Values that change from page to page are left out by naming what counts.
    const named = (await above('0', { limit: 1 }, { owner: 'alice' })).next ?? '';
    expect((await above('1', { cursor: named }, { owner: 'alice' })).items).toHaveLength(2);
    await expect(above('0', { cursor: named }, { owner: 'bob' })).rejects.toThrow(refusal);
    await expect(above('0', { cursor: named })).rejects.toThrow(refusal);
  });

  it('refuse cursors of other filters or orders, and invalid cursors', async () => {
    const { databases, lists } = await open();
    for (const balance of ['1', '2', '3']) await storeAccount(databases, { shard: shardOf(0), balance });
    const list = { filters: { owner: 'alice' }, orderBy: [{ field: 'balance' }] } as const;
    const { next } = await lists.page({ limit: 1 }, list);
    const cursor = next ?? '';
    expect((await lists.page({ limit: 1, cursor }, list)).items[0]?.balance.toFixed()).toBe('2');
    const others = [
      { ...list, filters: { owner: 'bob' } },
      { ...list, filters: {} },
      { ...list, orderBy: [{ field: 'balance', direction: 'desc' }] },
      { ...list, orderBy: [] },
    ] as const;
    for (const other of others) await expect(lists.page({ cursor }, other)).rejects.toThrow(ValidationError);
    const forged = (key: string): string =>
      encodeCursor('Account by balance asc,id asc', { owner: 'alice' }, key);
    const id = '018fd000-0000-7000-8000-000000000000';
    const odd = [
      `["2","${id}","x"]`,
      `["2 or true","${id}"]`,
      `[ "2","${id}"]`,
      `["2","${id.toUpperCase()}"]`,
    ];
    for (const key of [...odd, `[null,"${id}"]`, '["2",null]', '["2"]', '[2,3]', '[]', '{}', 'null', '']) {
      await expect(lists.page({ cursor: forged(key) }, list), key).rejects.toThrow('cursor was not issued');
    }
    expect((await lists.page({ cursor: forged(`["2","${id}"]`) }, list)).items).toHaveLength(2);
  });
});

describeOnEachAdapter('Lists', (harness) => {
  const open = async () => {
    const databases = await harness.makeShards({ shards: TWO, migrations: accountMigrations });
    return { databases, lists: new AccountLists(databases) };
  };

  it('need a limit', async () => {
    const { databases, lists } = await open();
    for (const balance of ['3', '1', '2'])
      await storeAccount(databases, { shard: ShardIdentifier.of(0, 1), balance });
    const orderBy = [{ field: 'balance', direction: 'desc' }] as const;
    expect((await lists.many({ limit: 2, orderBy })).map(({ balance }) => balance.toFixed())).toEqual([
      '3',
      '2',
    ]);
    for (const limit of [0, -1, 1.5, 1_001, Number.POSITIVE_INFINITY, Number.NaN]) {
      await expect(lists.many({ limit })).rejects.toThrow('A list needs a limit from 1 to 1000');
    }
    await expect(lists.many({} as { limit: number })).rejects.toThrow(ValidationError);
  });

  it('are sorted by stored fields only, each once', async () => {
    const { lists } = await open();
    const field = (name: string): SortTerm<Account> => ({ field: name as keyof Account & string });
    const refuse = async (...orderBy: readonly SortTerm<Account>[]) =>
      expect(lists.many({ limit: 1, orderBy })).rejects.toThrow('A list is sorted by');
    await refuse(field('events'));
    await refuse(field('balance; drop table accounts'));
    await refuse(field('balance'), field('balance'));
    await refuse({ field: 'balance', direction: 'sideways' as 'asc' });
  });
});

describeOn('postgresql', 'Queries over all shards', (harness) => {
  it('return the models of the other shards and name the shard that does not answer in time', async () => {
    const topology = await harness.makeTopology({ shards: FIVE, migrations: accountMigrations });
    const databases = openDatabases(changedMembers(topology, withPrimary({ lockTimeoutMs: 9_000 })));
    const lists = new AccountLists(databases);
    const [, slow] = FIVE;
    if (slow === undefined) throw new Error('Five shards');
    for (const shard of FIVE) await storeAccount(databases, { shard, balance: '7' });
    // One connection holds the lock, the other one queries.
    const [session, other] = await Promise.all([
      databases.database(slow).acquire(),
      databases.database(slow).acquire(),
    ]);
    other.release();
    await session.script('begin; lock table accounts');
    // The other shards need time to answer, also on a busy machine.
    const timeoutMs = 1_500;
    try {
      const started = performance.now();
      const { items, failures } = await lists.balances(timeoutMs);
      // Without a deadline, the statement would end after ten seconds.
      expect(performance.now() - started).toBeLessThan(9_000);
      expect(items).toHaveLength(4);
      expect(failures.map(({ shard }) => shard)).toEqual([slow]);
      expect(failures[0]?.error).toBeInstanceOf(DeadlineExceededError);
      const page = await lists.partialPage({ limit: 10 }, { timeoutMs });
      expect(page.items).toHaveLength(4);
      expect(page.failures.map(({ shard }) => shard)).toEqual([slow]);
      await expect(lists.page({ limit: 10 }, { timeoutMs })).rejects.toThrow(FwError);
      const reading = (async () => {
        for await (const _ of lists.all({ timeoutMs })) expect(_).toBeDefined();
      })();
      await expect(reading).rejects.toThrow(FwError);
    } finally {
      session.destroy();
    }
    // The server may take a moment to notice that the session has ended.
    expect((await lists.page({ limit: 10 }, { timeoutMs: 9_000 })).items).toHaveLength(5);
    await databases.close(0);
  });
});
