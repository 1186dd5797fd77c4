import { randomBytes } from 'node:crypto';
import { type Kysely, sql, type Transaction } from 'kysely';
import { expect, test } from 'vitest';
import { describeOn } from '../../test/databases/vitest.js';
import { Decimal } from '../domain/decimal.js';
import { type Ledger, ledgerMigrations, openLedger } from '../events/test-support/ledger.js';
import { ALICE, CreditAction, HERE } from '../execution/test-support/accounts.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { Inbox } from './inbox.js';
import { consumerDatabase } from './test-support/consumer-database.js';

interface Tables {
  readonly effects: { readonly what: string };
}

const message = { source: '/other/shards/0-0', id: 'e1', traceContext: undefined };

async function consumer(databases: DatabaseRegistry): Promise<Kysely<Tables>> {
  const database = consumerDatabase<Tables>(databases);
  await sql`create table effects (what text not null)`.execute(database);
  return database;
}

async function effects(database: Kysely<Tables>): Promise<readonly string[]> {
  const rows = await database.selectFrom('effects').select('what').execute();
  return rows.map(({ what }) => what);
}

describeOn('postgresql', 'An inbox', (harness) => {
  async function world(): Promise<{
    ledger: Ledger;
    database: Kysely<Tables>;
    inbox: Inbox<Transaction<Tables>>;
  }> {
    const databases = await harness.makeShards({
      shards: [HERE],
      migrations: ledgerMigrations,
      role: 'owner',
    });
    const database = await consumer(databases);
    const ledger = openLedger(databases);
    const inbox = new Inbox({ database, executor: ledger.executor, principal: ALICE });
    // One connection for each, so that all create the table at the same time.
    const eight = Array.from({ length: 8 });
    await Promise.all(eight.map(() => sql`select pg_sleep(0.1)`.execute(database)));
    await Promise.all(eight.map(() => inbox.createTable()));
    return { ledger, database, inbox };
  }

  test('does the work of a message once, even with concurrent repetitions', async () => {
    const { database, inbox } = await world();
    const work = (): Promise<{ kind: string }> =>
      inbox.once(message, async (transaction) => {
        await transaction.insertInto('effects').values({ what: 'a' }).execute();
        return 5;
      });
    const receptions = await Promise.all([work(), work(), work()]);
    expect(receptions.filter(({ kind }) => kind === 'done')).toEqual([{ kind: 'done', result: 5 }]);
    expect(await effects(database)).toEqual(['a']);
    expect(await inbox.once({ ...message, source: '/third' }, async () => 1)).toMatchObject({ kind: 'done' });
  });

  test.each(['\ud800', 'a\0b', randomBytes(1_500).toString('hex')])(
    'refuses the id %j, which its table cannot store',
    async (id) => {
      const { inbox } = await world();
      const refusal = { code: 'FW_VALIDATION', field: 'id' };
      const works = [
        () => inbox.once({ source: '/x', id }, async () => expect.unreachable()),
        () =>
          inbox.execute({ source: '/x', id, traceContext: undefined }, CreditAction, {
            account: '',
            amount: new Decimal(1),
          }),
      ];
      for (const work of works) await expect(work()).rejects.toMatchObject(refusal);
    },
  );

  test('asks for a repetition while its table is missing or its server is down', async () => {
    const { database, inbox, ledger } = await world();
    const params = { account: await ledger.open(), amount: new Decimal(5) };
    const receive = () =>
      Promise.allSettled([
        inbox.once(message, async () => expect.unreachable()),
        inbox.execute(message, CreditAction, params),
      ]);
    const again = { status: 'rejected', reason: { code: 'FW_RETRY_LATER', cause: expect.any(Error) } };
    await sql`drop table inbox`.execute(database);
    expect(await receive()).toMatchObject([again, again]);
    await database.destroy();
    expect(await receive()).toMatchObject([again, again]);
  });

  test('records no failed work, and rolls back its effects', async () => {
    const { database, inbox } = await world();
    const failing = inbox.once(message, async (transaction) => {
      await transaction.insertInto('effects').values({ what: 'half' }).execute();
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await effects(database)).toEqual([]);
    expect(await inbox.once(message, async () => 'second')).toEqual({ kind: 'done', result: 'second' });
  });

  test('starts an action once, even if the process dies before it is recorded', async () => {
    const { ledger, database, inbox } = await world();
    const account = await ledger.open();
    const params = { account, amount: new Decimal(5) };
    const settled = await Promise.allSettled([
      inbox.execute(message, CreditAction, params),
      inbox.execute(message, CreditAction, params),
    ]);
    // The concurrent call got the same result, or was refused because its key was in use.
    expect(settled.some((each) => each.status === 'fulfilled' && each.value.kind === 'done')).toBe(true);
    expect(await ledger.balance(account)).toBe('5');
    // Simulates a process that died between the action's commit and the inbox row.
    await sql`delete from inbox`.execute(database);
    const again = await inbox.execute(message, CreditAction, params);
    expect(again).toMatchObject({ kind: 'done' });
    expect(await ledger.balance(account)).toBe('5');
    expect(await inbox.execute(message, CreditAction, params)).toEqual({ kind: 'duplicate' });
  });

  test('deletes old messages', async () => {
    const { inbox } = await world();
    await inbox.once(message, async () => {});
    expect(await inbox.purge(new Date(Date.now() - 60_000))).toBe(0);
    expect(await inbox.purge(new Date(Date.now() + 60_000))).toBe(1);
    expect((await inbox.once(message, async () => {})).kind).toBe('done');
  });
});
