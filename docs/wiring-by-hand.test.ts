import {
  assembleApplication,
  currency,
  Decimal,
  openApplication,
  ShardIdentifier,
  type Uuid,
} from 'fw-actions';
import { ShardingConfig } from 'fw-actions/config';
import { openDatabases, prepareShards } from 'fw-actions/operate';
import { expect, test } from 'vitest';
import { WalletCreateAction } from '../examples/wallet/actions/wallet-create-action.js';
import { WalletDepositMoneyAction } from '../examples/wallet/actions/wallet-deposit-money-action.js';
import { application } from '../examples/wallet/generated/application.js';

/** The examples of docs/wiring-by-hand.md. */
const sharding = ShardingConfig.of({
  defaultShard: { group: 0, member: 0 },
  groups: [
    {
      group: 0,
      name: 'global',
      members: [
        { member: 0, name: 'global-1', configs: { primaryConfig: { jdbcUrl: 'jdbc:pglite:mem:global' } } },
      ],
    },
    {
      group: 1,
      name: 'mexico',
      members: [
        { member: 0, name: 'mexico-1', configs: { primaryConfig: { jdbcUrl: 'jdbc:pglite:mem:mexico' } } },
      ],
    },
  ],
});

const oneShard = ShardingConfig.of({
  defaultShard: { group: 0, member: 0 },
  groups: [
    {
      group: 0,
      name: 'global',
      members: [
        { member: 0, name: 'global-1', configs: { primaryConfig: { jdbcUrl: 'jdbc:pglite:mem:alone' } } },
      ],
    },
  ],
});

/** Embedded databases take their time to start, the more so beside other tests. */
const START_MS = 120_000;
const ownerId: Uuid = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';

test(
  'openApplication opens, migrates and wires what a topology made in code names',
  async () => {
    const app = await openApplication(application, {
      namespace: 'example.wallet',
      sharding,
      collaborators: {},
      warn: (message) => console.warn(message),
    });
    try {
      // A slow shard enters service later than the others.
      await expect
        .poll(() => app.databases.withheld(ShardIdentifier.of(1, 0)), { timeout: START_MS })
        .toBeUndefined();
      const { executor } = app;
      const principal = { name: 'ada', claims: { role: 'operator' } } as const;
      const wallet = await executor.execute(principal, WalletCreateAction, {
        country: 'MX',
        ownerId,
        currency: currency('MXN'),
      });
      const richer = await executor.execute(principal, WalletDepositMoneyAction, {
        walletId: wallet.id,
        amount: new Decimal('50.25'),
      });
      expect([richer.version, richer.balance.toString()]).toEqual([2, '50.25']);

      const mexico = app.databases.transactionManager(ShardIdentifier.of(1, 0));
      const { rows } = await mexico.transaction((transaction) =>
        transaction.query({
          text: 'select event_type from eventlog.events where model_id = $1 order by position',
          values: [wallet.id.getValue()],
        }),
      );
      expect(rows.flat()).toEqual(['WalletCreatedEvent', 'WalletMoneyDepositedEvent']);
    } finally {
      await app.close();
    }
  },
  START_MS,
);

test(
  'assembleApplication wires over databases that are open already',
  async () => {
    const databases = openDatabases(oneShard);
    await prepareShards(databases, application);
    const app = assembleApplication(application, databases, {
      namespace: 'example.wallet',
      execution: { timeoutMs: 5_000 },
      collaborators: {},
    });
    const params = { country: 'FR', ownerId, currency: currency('EUR') };
    const wallet = await app.executor.execute(
      { name: 'ada', claims: { role: 'operator' } },
      WalletCreateAction,
      params,
    );
    expect(wallet.id.resolveShardIdentifier()).toEqual(ShardIdentifier.of(0, 0));
    await app.close();
  },
  START_MS,
);
