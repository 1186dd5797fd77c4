/** A process that migrates shards until it is done or killed. Its argument is a `MigratingPlan` as JSON. */

import { testDataSource, topologyOf } from '../../../test/databases/topology.js';
import type { DataSourceConfig } from '../../config/types.js';
import { openDatabases } from '../../databases.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { migrate } from '../migrate.js';
import type { Migration } from '../migration.js';

export interface MigratingPlan {
  readonly urls: readonly DataSourceConfig['url'][];
  readonly user: { readonly user: string; readonly password: string };
  /** Default `none`. */
  readonly pooler?: DataSourceConfig['pooler'];
  readonly migrations: readonly Migration[];
}

const plan = JSON.parse(process.argv[2] ?? '') as MigratingPlan;
const sources = plan.urls.map(
  (url, index) =>
    [
      ShardIdentifier.of(index >> 6, index & 63),
      testDataSource(url, plan.user, {
        allowUnsafe: ['fsync', 'full_page_writes'],
        pooler: plan.pooler ?? 'none',
      }),
    ] as const,
);
const databases = openDatabases(topologyOf(sources));
const log = (message: string): void => void process.stdout.write(`${message}\n`);
await migrate(databases, { migrations: plan.migrations, log, atOnce: 2 });
await databases.close();
