import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { type Application, assembleApplication } from '../../application.js';
import { NO_SLOT } from '../../collections/transient-set.js';
import { onAbort } from '../../concurrency/abort-listeners.js';
import { Deadlines } from '../../concurrency/deadlines.js';
import { Decimal } from '../../domain/decimal.js';
import { uuid7 } from '../../domain/id-source.js';
import { NestedExecutionError, WriteInPerformError } from '../../errors.js';
import type { Statement } from '../../sharding/shard-database.js';
import {
  ALICE,
  accountApplication,
  accountMigrations,
  DoAction,
  HERE,
  OpenAction,
} from '../test-support/accounts.js';

type Work = () => unknown;

interface Tables {
  readonly accounts: { readonly id: string };
  readonly probe: { readonly id: number };
}

const migrations = [...accountMigrations, { name: '0002_probe', up: 'create table probe (id int4)' }];
const INSERT: Statement = { text: 'insert into probe values (1)', values: [] };

type Perform = (work: Work) => Promise<unknown>;

/** Ways to write inside `perform`; some use objects that were created before. */
const WAYS: Readonly<Record<string, (application: Application, perform: Perform) => Promise<unknown>>> = {
  'a database': ({ databases }, perform) => perform(() => databases.database(HERE).query(INSERT)),
  'a database that was fetched before': ({ databases }, perform) => {
    const database = databases.database(HERE);
    return perform(() => database.query(INSERT));
  },
  'a session': ({ databases }, perform) =>
    perform(async () => (await databases.database(HERE).acquire()).query(INSERT)),
  'a session that was taken before': async ({ databases }, perform) => {
    const session = await databases.database(HERE).acquire();
    return perform(() => session.query(INSERT)).finally(() => session.release());
  },
  'a script on a session that was taken before': async ({ databases }, perform) => {
    const session = await databases.database(HERE).acquire();
    return perform(() => session.script(INSERT.text)).finally(() => session.release());
  },
  'a transaction manager': ({ databases }, perform) => perform(() => databases.transactionManager(HERE)),
  'a transaction manager that was fetched before': ({ databases }, perform) => {
    const manager = databases.transactionManager(HERE);
    return perform(() => manager.transaction((transaction) => transaction.query(INSERT)));
  },
  'a transaction that was begun before': ({ databases }, perform) =>
    databases.transactionManager(HERE).transaction((transaction) => perform(() => transaction.query(INSERT))),
  'Kysely on a transaction that was begun before': ({ databases }, perform) =>
    databases.transactionManager(HERE).transaction((transaction) => {
      const kysely = transaction.kysely<Tables>();
      return perform(() => kysely.insertInto('probe').values({ id: 1 }).execute());
    }),
  'a compiled query with another text': ({ repositories }, perform) => {
    const queries = repositories.queries<Tables>(HERE);
    const select = queries.selectFrom('probe').selectAll().compile();
    return perform(() => queries.executeQuery({ ...select, sql: `${INSERT.text} returning *` }));
  },
  'a timer': ({ databases }, perform) =>
    perform(() => delay(1).then(() => databases.database(HERE).query(INSERT))),
  'one of many promises': ({ databases }, perform) =>
    perform(() => Promise.all([1, databases.database(HERE).query(INSERT)])),
  'work that outlives it': async ({ databases }, perform) => {
    const database = databases.database(HERE);
    const late: Promise<unknown>[] = [];
    await perform(() => {
      late.push(delay(20).then(() => database.query(INSERT)));
    });
    return late[0];
  },
  'the fence of an attempt': ({ executor }, perform) =>
    perform(() => executor.outcomeOf(uuid7.next(HERE.bits))),
  'the journal': ({ journal }, perform) => perform(() => journal.flag(uuid7.next(HERE.bits), 'note')),
  'a lock': ({ locks }, perform) => perform(() => locks.acquire(HERE, 'lock')),
  'a lock that was taken before': ({ locks }, perform) =>
    locks.withLock(HERE, 'lock', (lock) => perform(() => lock.extend())),
  'retention of events': ({ events }, perform) =>
    perform(() => events.retain({ keepDays: 365, shard: HERE })),
  'another action': ({ executor }, perform) =>
    perform(() => executor.execute(ALICE, OpenAction, { shard: HERE, balance: new Decimal(1) })),
};

describeOnEachAdapter('Inside perform', (harness) => {
  let application: Application;

  beforeEach(async () => {
    const databases = await harness.makeShards({ migrations });
    const options = { namespace: 'test', collaborators: {}, deliver: false };
    application = assembleApplication(accountApplication, databases, options);
  });

  const rows = async (text: string): Promise<unknown> =>
    (await application.databases.database(HERE).query({ text, values: [] })).rows;

  test('every way to write is refused', async () => {
    const perform: Perform = (work) => application.executor.execute(ALICE, DoAction, { work });
    const ends: Record<string, unknown> = {};
    for (const [name, attempt] of Object.entries(WAYS)) {
      const end = await attempt(application, perform).catch((error: unknown) => error);
      const isNested = name === 'another action' && end instanceof NestedExecutionError;
      ends[name] = end instanceof WriteInPerformError || isNested ? 'refused' : end;
    }
    expect(ends).toEqual(Object.fromEntries(Object.keys(WAYS).map((name) => [name, 'refused'])));
    const counts =
      'select (select count(*) from probe)::int4, (select count(*) from accounts)::int4, ' +
      "(select count(*) from eventlog.actions where status = 'void')::int4";
    expect(await rows(counts)).toEqual([[0, 0, 0]]);
  });

  test('repositories read, and afterwards every way works again', async () => {
    const { executor, repositories, databases } = application;
    const work: Work = () => repositories.queries<Tables>(HERE).selectFrom('probe').selectAll().execute();
    await databases.database(HERE).query(INSERT);
    expect(await executor.execute(ALICE, DoAction, { work })).toEqual([{ id: 1 }]);
  });

  test('placement can choose by the sizes of databases', async () => {
    const { executor, placement } = application;
    const work: Work = () => placement.choose(HERE.group, { kind: 'least-filled' });
    expect(await executor.execute(ALICE, DoAction, { work })).toBe(HERE);
  });
});

test('a wait for a deadline or a signal ends outside every perform', async () => {
  const scope = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  const controller = new AbortController();
  await scope.run('perform', async () => {
    const expired = new Promise<void>((resolve) => {
      const expire = (): void => {
        seen.push(scope.getStore());
        resolve();
      };
      new Deadlines().watch({ deadline: performance.now(), slot: NO_SLOT, expire });
    });
    await expired;
    onAbort(controller.signal, () => seen.push(scope.getStore()));
    controller.abort();
  });
  expect(seen).toEqual([undefined, undefined]);
});
