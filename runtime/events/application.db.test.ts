import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { WalletCreateAction } from '../../examples/wallet/actions/wallet-create-action.js';
import { WalletDepositMoneyAction } from '../../examples/wallet/actions/wallet-deposit-money-action.js';
import type { WalletCreatedEvent } from '../../examples/wallet/events/wallet-created-event.js';
import { application } from '../../examples/wallet/generated/application.js';
import { walletModel } from '../../examples/wallet/generated/wallet.js';
import { Wallet } from '../../examples/wallet/models/wallet.js';
import { WalletRepository } from '../../examples/wallet/repositories/wallet-repository.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from '../../examples/wallet/shards.js';
import { PATIENT } from '../../test/databases/patient.js';
import { describeOn, describeOnEachAdapter } from '../../test/databases/vitest.js';
import type { ApplicationDefinition } from '../application-definition.js';
import { openDatabases } from '../databases.js';
import {
  Action,
  assembleApplication,
  type Clock,
  currency,
  Decimal,
  type Principal,
  ShardedId,
} from '../index.js';
import type { EventHandler } from './delivery/handler-descriptor.js';
import type { EventEnvelope } from './log/event-envelope.js';
import { until } from './test-support/ledger.js';

/** May open wallets and deposit money. Its scheduled actions run with its claims. */
const OPERATOR = { name: 'test', claims: { role: 'operator' } } as const;

/** Puts a welcome gift into each new wallet. */
class WelcomeHandler implements EventHandler<WalletCreatedEvent> {
  async handle(envelope: EventEnvelope<WalletCreatedEvent>): Promise<void> {
    const walletId = ShardedId.of(Wallet, envelope.modelId);
    await envelope.execute(WalletDepositMoneyAction, { walletId, amount: new Decimal(10) });
  }
}

const withHandler: ApplicationDefinition = {
  ...application,
  wireHandlers: () => [
    {
      name: 'WelcomeHandler',
      events: application.events.filter(({ name }) => name === 'WalletCreatedEvent'),
      create: () => new WelcomeHandler(),
    },
  ],
};

describeOnEachAdapter('An application with handlers', (harness) => {
  test('delivers while it is open', async () => {
    const shards = [GLOBAL_SHARD, MEXICO_SHARD];
    const databases = await harness.makeShards({ shards, migrations: application.migrations });
    const options = { namespace: 'test', collaborators: {}, execution: PATIENT, migrate: false };
    const open = assembleApplication(withHandler, databases, options);
    const wallet = await open.executor.execute(OPERATOR, WalletCreateAction, {
      country: 'MX',
      ownerId: randomUUID(),
      currency: currency('MXN'),
      initialBalance: new Decimal(1),
    });
    const wallets = new WalletRepository(open.repositories, walletModel);
    await until(async () => (await wallets.getById(wallet.id)).balance.equals(11));
    await open.close();
    expect(wallet.id.resolveShardIdentifier()).toBe(MEXICO_SHARD);
  });
});

/** Deposits a gift into a wallet at a later time. */
class GiftLaterAction extends Action<{ readonly walletId: ShardedId<Wallet> }, void> {
  readonly #wallets: WalletRepository;

  constructor(clock: Clock, wallets: WalletRepository) {
    super(clock);
    this.#wallets = wallets;
  }

  protected async perform(_principal: Principal, { walletId }: { readonly walletId: ShardedId<Wallet> }) {
    this.plan().update((await this.#wallets.getById(walletId)).deposit(new Decimal(1)));
    const gift = { walletId, amount: new Decimal(10) };
    this.plan().schedule(new Date(), WalletDepositMoneyAction, gift);
  }
}

const { sagas: _none, wireHandlers: _neither, ...withoutHandlers } = application;
const withSchedule: ApplicationDefinition = {
  ...withoutHandlers,
  wire: (context, collaborators) => [
    ...application.wire(context, collaborators),
    {
      name: 'GiftLaterAction',
      actionClass: GiftLaterAction,
      params: [{ name: 'walletId', type: { kind: 'id', model: 'Wallet', sharded: true } }],
      create: () =>
        new GiftLaterAction(context.clock, new WalletRepository(context.repositories, walletModel)),
    },
  ],
};

describeOnEachAdapter('An application without handlers and sagas', (harness) => {
  test('runs its scheduled actions', async () => {
    const shards = [GLOBAL_SHARD, MEXICO_SHARD];
    const databases = await harness.makeShards({ shards, migrations: application.migrations });
    const open = assembleApplication(withSchedule, databases, {
      namespace: 'test',
      collaborators: {},
      execution: PATIENT,
    });
    try {
      const { id } = await open.executor.execute(OPERATOR, WalletCreateAction, {
        country: 'MX',
        ownerId: randomUUID(),
        currency: currency('MXN'),
        initialBalance: new Decimal(0),
      });
      await open.executor.execute(OPERATOR, GiftLaterAction, { walletId: id });
      const wallets = new WalletRepository(open.repositories, walletModel);
      await until(async () => (await wallets.getById(id)).balance.equals(11));
    } finally {
      await open.close();
    }
  });
});

describeOn('postgresql', 'An application that is reloaded', (harness) => {
  test('delivers on a shard that was added after it was opened', async () => {
    const shards = [GLOBAL_SHARD, MEXICO_SHARD];
    const { migrations } = application;
    const topology = await harness.makeTopology({ shards, migrations });
    const databases = openDatabases({ ...topology, groups: topology.groups.slice(0, 1) }, { warn: () => {} });
    const options = { namespace: 'test', collaborators: {}, execution: PATIENT, migrate: false };
    const open = assembleApplication(withHandler, databases, options);
    try {
      await open.reload(topology);
      const { id } = await open.executor.execute(OPERATOR, WalletCreateAction, {
        country: 'MX',
        ownerId: randomUUID(),
        currency: currency('MXN'),
        initialBalance: new Decimal(1),
      });
      expect(id.resolveShardIdentifier()).toBe(MEXICO_SHARD);
      const wallets = new WalletRepository(open.repositories, walletModel);
      await until(async () => (await wallets.getById(id)).balance.equals(11));
    } finally {
      await open.close();
    }
  });
});
