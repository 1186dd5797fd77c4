/**
 * A process that moves an amount from one shard to another and is killed by SIGKILL right after the first shard
 * transaction's commit was answered. Its argument is a `CrashPlan` as JSON.
 */

import { testDataSource, topologyOf } from '../../../test/databases/topology.js';
import type { DataSourceConfig } from '../../config/types.js';
import { postgresAdapter } from '../../databases.js';
import type { DatabaseAdapter } from '../../sharding/database-adapter.js';
import { DatabaseRegistry } from '../../sharding/database-registry.js';
import { forwarding } from '../../sharding/forwarding.js';
import { HERE, openBank, THERE } from './accounts.js';

export interface CrashPlan {
  readonly urls: readonly [here: DataSourceConfig['url'], there: DataSourceConfig['url']];
  readonly user: { readonly user: string; readonly password: string };
  readonly from: string;
  readonly to: string;
  readonly amount: number;
}

const plan = JSON.parse(process.argv[2] ?? '') as CrashPlan;
const [here, there] = plan.urls.map((url) => testDataSource(url, plan.user));
if (here === undefined || there === undefined) throw new Error('Two URLs are needed');
const databases = new DatabaseRegistry(
  topologyOf([
    [HERE, here],
    [THERE, there],
  ]),
  { adapters: [deadly(postgresAdapter)], warn: () => {} },
);
await openBank(databases).move(plan.from, plan.amount, plan.to);

function deadly(adapter: DatabaseAdapter): DatabaseAdapter {
  return {
    kind: adapter.kind,
    open: (shard, source, options) => {
      const database = adapter.open(shard, source, options);
      return forwarding(database, {
        query: async (statement, limits) => {
          const rows = await database.query(statement, limits);
          if (statement.text.includes('INSERT INTO eventlog.journal')) process.kill(process.pid, 'SIGKILL');
          return rows;
        },
      });
    },
  };
}
