import { expect, test } from 'vitest';
import { describeOn, describeOnEachAdapter } from '../../test/databases/vitest.js';
import { type Application, assembleApplication } from '../application.js';
import { openDatabases } from '../databases.js';
import { Decimal } from '../domain/decimal.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import {
  AccountRepository,
  ALICE,
  accountApplication,
  accountMigrations,
  CreditAction,
  HERE,
  OpenAction,
  THERE,
} from '../execution/test-support/accounts.js';
import { handlerOf, until } from './test-support/ledger.js';

const SHARDS = { shards: [HERE, THERE], migrations: accountMigrations };
const OPTIONS = { namespace: 'test', collaborators: {}, execution: { timeoutMs: 60_000 } };

/** An application with a handler, and the models whose events it has received. */
function withHandler() {
  const seen: string[] = [];
  const handler = handlerOf('Seen', ({ modelId }) => void seen.push(modelId));
  return { seen, application: { ...accountApplication, wireHandlers: () => [handler] } };
}

/** The id of a new account that was credited with 1. */
async function credited({ executor }: Application, shard: ShardIdentifier, pin = '1'): Promise<string> {
  const { id } = await executor.execute(ALICE, OpenAction, { shard, balance: new Decimal(0) });
  const account = id.getValue();
  await executor.execute(ALICE, CreditAction, { account, amount: new Decimal(1), pin });
  return account;
}

describeOnEachAdapter('An application', (harness) => {
  test('delivers to its handlers while it is open', async () => {
    const { seen, application } = withHandler();
    const open = assembleApplication(application, await harness.makeShards(SHARDS), OPTIONS);
    const account = await credited(open, THERE);
    await until(() => seen.includes(account)).finally(() => open.close());
  });

  test('without handlers and sagas runs its scheduled actions', async () => {
    const databases = await harness.makeShards(SHARDS);
    const open = assembleApplication(accountApplication, databases, OPTIONS);
    const account = await credited(open, HERE, 'later');
    const due = { text: 'UPDATE eventlog.schedules SET next_date = clock_timestamp()', values: [] };
    expect((await databases.database(HERE).query(due)).rowCount).toBe(1);
    const accounts = new AccountRepository(open.repositories);
    await until(async () => (await accounts.getById(account)).balance.equals(2)).finally(() => open.close());
  });
});

describeOn('postgresql', 'An application that is reloaded', (harness) => {
  test('delivers on a shard that was added after it was opened', async () => {
    const { seen, application } = withHandler();
    const topology = await harness.makeTopology(SHARDS);
    const databases = openDatabases({ ...topology, groups: topology.groups.slice(0, 1) }, { warn: () => {} });
    const open = assembleApplication(application, databases, { ...OPTIONS, migrateAtStart: false });
    await open.reload(topology);
    const account = await credited(open, THERE);
    await until(() => seen.includes(account)).finally(() => open.close());
  });
});
