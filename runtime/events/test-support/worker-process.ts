/**
 * A process that delivers until it is killed. Its argument is a `WorkerPlan` as JSON. Its handlers write the events
 * that they receive to the table `seen`, and credit the mirror once for each event.
 */

import { testDataSource, topologyOf } from '../../../test/databases/topology.js';
import type { DataSourceConfig } from '../../config/types.js';
import { postgresAdapter } from '../../databases.js';
import { Decimal } from '../../domain/decimal.js';
import { CreditAction, HERE } from '../../execution/test-support/accounts.js';
import { DatabaseRegistry } from '../../sharding/database-registry.js';
import { type CreditedEnvelope, handlerOf, openLedger } from './ledger.js';
import { ticking } from './recurring.js';

export interface WorkerPlan {
  readonly name: string;
  readonly url: DataSourceConfig['url'];
  readonly user: { readonly user: string; readonly password: string };
  /** Id of the mirror account. */
  readonly mirror: string;
  /** Whether it has a recurring action `Tick`, which credits the mirror at each due time. Default false. */
  readonly ticks?: boolean;
}

const plan = JSON.parse(process.argv[2] ?? '') as WorkerPlan;
const source = testDataSource(plan.url, plan.user, { maximumPoolSize: 20 });
const databases = new DatabaseRegistry(topologyOf([[HERE, source]]), {
  adapters: [postgresAdapter],
  warn: () => {},
});
const database = databases.database(HERE);

const INSERT = 'INSERT INTO seen (handler, event_id, model_id, version, who) VALUES ($1, $2, $3, $4, $5)';

function valuesOf(handler: string, { id, modelId, modelVersion }: CreditedEnvelope): readonly unknown[] {
  return [handler, id, modelId, modelVersion, plan.name];
}

const ledger = openLedger(databases, {
  limits: plan.ticks === true ? { leaseMs: 2_000 } : {},
  change: (known, accounts) => (plan.ticks === true ? [...known, ticking(accounts, plan.mirror)] : known),
  handlers: [
    handlerOf('Seen', async (envelope) => {
      await database.query({ text: INSERT, values: valuesOf('Seen', envelope) });
    }),
    handlerOf(
      'Copy',
      async (envelope) => {
        await envelope.transaction.query({ text: INSERT, values: valuesOf('Copy', envelope) });
      },
      { transactional: true },
    ),
    handlerOf('Mirror', async (envelope) => {
      if (envelope.modelId === plan.mirror) return;
      await envelope.execute(CreditAction, { account: plan.mirror, amount: new Decimal(1) });
    }),
  ],
});
ledger.events.start();
console.log('started');
