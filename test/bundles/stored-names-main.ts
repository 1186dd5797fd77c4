import { currency, Decimal, openApplication, ShardIdentifier, ShardingConfig, type Uuid } from 'fw-actions';
import { TransferGetAction } from '../../examples/wallet/actions/transfer-get-action.js';
import { TransferInitiateAction } from '../../examples/wallet/actions/transfer-initiate-action.js';
import { WalletCreateAction } from '../../examples/wallet/actions/wallet-create-action.js';
import { application } from '../../examples/wallet/generated/application.js';

/** Makes one transfer between two shards and prints every name that it has stored. */

const member = (name: string) => ({
  member: 0,
  name: `${name}-1`,
  configs: { primaryConfig: { jdbcUrl: `jdbc:pglite:mem:${name}` } },
});
const app = await openApplication(application, {
  namespace: 'example.wallet',
  sharding: ShardingConfig.of({
    defaultShard: { group: 0, member: 0 },
    groups: [
      { group: 0, name: 'global', members: [member('global')] },
      { group: 1, name: 'mexico', members: [member('mexico')] },
    ],
  }),
  collaborators: {},
  // A busy machine may take seconds for a statement of an embedded database.
  execution: { timeoutMs: 60_000 },
  warn: () => undefined,
});

const principal = { name: 'ada', claims: { role: 'operator' } } as const;
const ownerId: Uuid = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';
const open = async (country: string) =>
  app.executor.execute(principal, WalletCreateAction, {
    country,
    ownerId,
    currency: currency('MXN'),
    initialBalance: new Decimal(100),
  });
const [source, destination] = [await open('FR'), await open('MX')];
const transfer = await app.executor.execute(principal, TransferInitiateAction, {
  sourceId: source.id,
  destinationId: destination.id,
  amount: new Decimal(30),
});
const state = async (): Promise<string> =>
  (await app.executor.execute(principal, TransferGetAction, { transferId: transfer.id })).state;
while ((await state()) !== 'COMPLETED') await new Promise((resolve) => setTimeout(resolve, 50));

const NAMES = `select distinct 'event ' || model_name || ' ' || event_type from eventlog.events
  union select 'action ' || name from eventlog.actions
  union select 'saga ' || saga from eventlog.sagas`;
const names = await Promise.all(
  [0, 1].map(async (group) => {
    const shard = app.databases.transactionManager(ShardIdentifier.of(group, 0));
    const { rows } = await shard.transaction((transaction) => transaction.query({ text: NAMES, values: [] }));
    return rows.flat();
  }),
);
await app.close();
console.log(JSON.stringify([...new Set([...names.flat(), `id ${transfer.id.modelName}`])].sort()));
