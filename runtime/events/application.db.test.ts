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
import type { Application } from '../application.js';
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

const SHARDS = { shards: [GLOBAL_SHARD, MEXICO_SHARD], migrations: application.migrations };
const OPTIONS = { namespace: 'test', collaborators: {}, execution: PATIENT, migrate: false };

/** The id of a new wallet of one peso. */
async function openWallet({ executor }: Application): Promise<ShardedId<Wallet>> {
  const wallet = { country: 'MX', ownerId: randomUUID(), currency: currency('MXN') };
  const initialBalance = new Decimal(1);
  const { id } = await executor.execute(OPERATOR, WalletCreateAction, { ...wallet, initialBalance });
  expect(id.resolveShardIdentifier()).toBe(MEXICO_SHARD);
  return id;
}

function balanceBecomes(
  balance: number,
  { repositories }: Application,
  id: ShardedId<Wallet>,
): Promise<void> {
  const wallets = new WalletRepository(repositories, walletModel);
  return until(async () => (await wallets.getById(id)).balance.equals(balance));
}

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

describeOnEachAdapter('An application', (harness) => {
  test('delivers to its handlers while it is open', async () => {
    const open = assembleApplication(withHandler, await harness.makeShards(SHARDS), OPTIONS);
    await balanceBecomes(11, open, await openWallet(open)).finally(() => open.close());
  });

  test('without handlers and sagas runs its scheduled actions', async () => {
    const open = assembleApplication(withSchedule, await harness.makeShards(SHARDS), OPTIONS);
    const walletId = await openWallet(open);
    await open.executor.execute(OPERATOR, GiftLaterAction, { walletId });
    await balanceBecomes(12, open, walletId).finally(() => open.close());
  });
});

describeOn('postgresql', 'An application that is reloaded', (harness) => {
  test('delivers on a shard that was added after it was opened', async () => {
    const topology = await harness.makeTopology(SHARDS);
    const databases = openDatabases({ ...topology, groups: topology.groups.slice(0, 1) }, { warn: () => {} });
    const open = assembleApplication(withHandler, databases, OPTIONS);
    await open.reload(topology);
    await balanceBecomes(11, open, await openWallet(open)).finally(() => open.close());
  });
});
