/**
 * A process that opens accounts and credits them until its input ends. It acts as one release of the application: the
 * plan names the column of the balance. Its argument is a `RenamingPlan` as JSON. It prints a line for each account
 * that it has opened, with 1 on it, and for each credit of 1.
 */

import { ExecutionConfiguration } from '../../runtime/action/execution-configuration.js';
import type { DataSourceConfig } from '../../runtime/config/index.js';
import { postgresAdapter } from '../../runtime/databases.js';
import { Decimal } from '../../runtime/domain/decimal.js';
import { accountModel } from '../../runtime/domain/test-support/account.js';
import {
  ALICE,
  CreditAction,
  HERE,
  OpenAction,
  openBank,
} from '../../runtime/execution/test-support/accounts.js';
import { DatabaseRegistry } from '../../runtime/sharding/database-registry.js';
import { testDataSource, topologyOf } from '../../test/databases/topology.js';

export interface RenamingPlan {
  readonly url: DataSourceConfig['url'];
  readonly user: { readonly user: string; readonly password: string };
  /** Column of the balance. */
  readonly column: string;
  /** Ids of accounts that other processes credit too. */
  readonly accounts: readonly string[];
}

const plan = JSON.parse(process.argv[2] ?? '') as RenamingPlan;
const balance = accountModel.columns.find(({ field }) => field === 'balance');
if (balance !== undefined) Object.assign(balance, { column: plan.column });

const source = testDataSource(plan.url, plan.user, { maximumPoolSize: 4 });
const databases = new DatabaseRegistry(topologyOf([[HERE, source]]), {
  adapters: [postgresAdapter],
  warn: () => {},
});
const { executor } = openBank(databases);
const patiently = ExecutionConfiguration.Builder.executionConfiguration()
  .timeoutMs(60_000)
  .maximumAttempts(1_000)
  .build();

let isEnding = false;
process.stdin.on('end', () => {
  isEnding = true;
});
process.stdin.resume();

async function credit(account: string): Promise<void> {
  await executor.execute(ALICE, CreditAction, { account, amount: new Decimal(1) }, patiently);
  console.log('credited');
}

while (!isEnding) {
  const params = { shard: HERE, balance: new Decimal(1) };
  const opened = await executor.execute(ALICE, OpenAction, params, patiently);
  console.log('opened');
  await Promise.all([opened.id.getValue(), ...plan.accounts].map(credit));
}
await databases.close(0);
