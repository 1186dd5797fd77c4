import { TransferCompleteAction } from '../../examples/wallet/actions/transfer-complete-action.js';
import { TransferRefundAction } from '../../examples/wallet/actions/transfer-refund-action.js';
import { WalletDepositMoneyAction } from '../../examples/wallet/actions/wallet-deposit-money-action.js';
import { TransferCompletedEvent } from '../../examples/wallet/events/transfer-completed-event.js';
import { application, type Collaborators } from '../../examples/wallet/generated/application.js';
import { transferModel } from '../../examples/wallet/generated/transfer.js';
import { walletModel } from '../../examples/wallet/generated/wallet.js';
import type { Transfer, TransferState } from '../../examples/wallet/models/transfer.js';
import { Wallet } from '../../examples/wallet/models/wallet.js';
import { WalletRepository } from '../../examples/wallet/repositories/wallet-repository.js';
import { Action } from '../../runtime/action/action.js';
import type { ActionDescriptor } from '../../runtime/action/action-descriptor.js';
import type { ApplicationDefinition } from '../../runtime/application-definition.js';
import type { Clock } from '../../runtime/domain/clock.js';
import { currency } from '../../runtime/domain/currency.js';
import { Decimal } from '../../runtime/domain/decimal.js';
import type { EventDescriptor, FieldDescriptor } from '../../runtime/domain/descriptor.js';
import { ShardedId } from '../../runtime/domain/id.js';
import { ModelEvent } from '../../runtime/domain/model-event.js';
import type { Principal } from '../../runtime/domain/principal.js';
import { ShardIdentifier } from '../../runtime/domain/shard-identifier.js';
import { ShardUnavailableError } from '../../runtime/errors.js';
import type { EventEnvelope } from '../../runtime/events/log/event-envelope.js';
import type { Migration } from '../../runtime/migration/migration.js';
import { Saga } from '../../runtime/sagas/saga.js';
import { defineSaga } from '../../runtime/sagas/saga-descriptor.js';
import { type SagaSteps, step } from '../../runtime/sagas/saga-step.js';

export type Release = 1 | 2;

/** What a process of a release knows besides its code. */
export interface ReleaseFacts {
  readonly release: Release;
  /** Wallets that count the transfers of each shard, by its number in `SHARDS`. */
  readonly counters: readonly string[];
  /** Whether the second release cannot take its new step. */
  readonly holdsChecks: boolean;
}

export const SHARDS: readonly ShardIdentifier[] = [
  ShardIdentifier.of(0, 0),
  ShardIdentifier.of(0, 1),
  ShardIdentifier.of(1, 0),
  ShardIdentifier.of(1, 1),
];

/** The wallet's tables, and one for a transactional handler. */
export const rolloutMigrations: readonly Migration[] = [
  ...application.migrations,
  { name: '9001_seen', up: 'create table seen (event_id uuid not null, release integer not null)' },
];

/** The events that the transactional handler selects, by their stored names. */
export const SEEN: readonly string[] = [
  'WalletMoneyDepositedEvent',
  'WalletFundsAddedEvent',
  'WalletMoneyWithdrawnEvent',
  'TransferInitiatedEvent',
  'WalletCheckedEvent',
];

/** The name under which the second release stores deposits. */
const RENAMED = 'WalletFundsAddedEvent';
const ONE = new Decimal(1);
const ID: FieldDescriptor = { name: 'walletId', type: { kind: 'id', model: 'Wallet', sharded: true } };

interface OfWallet {
  readonly walletId: ShardedId<Wallet>;
}

class WalletCheckedEvent extends ModelEvent<Wallet> {
  constructor(id: ShardedId<Wallet>) {
    super(id.getValue(), Wallet);
  }
}

/** Opens a wallet on any shard. */
export class OpenAction extends Action<{ readonly shard: number; readonly balance: number }, Wallet> {
  protected perform(
    _principal: Principal,
    params: { readonly shard: number; readonly balance: number },
  ): Wallet {
    const shard = SHARDS[params.shard] ?? ShardIdentifier.of(0, 0);
    const owner = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';
    const balance = new Decimal(params.balance);
    return this.plan().add(Wallet.createWallet(shard, owner, currency('EUR'), balance, this.clock.now()));
  }
}

abstract class WalletAction extends Action<OfWallet, void> {
  readonly #wallets: WalletRepository;

  constructor(clock: Clock, wallets: WalletRepository) {
    super(clock);
    this.#wallets = wallets;
  }

  protected async perform(_principal: Principal, { walletId }: OfWallet): Promise<void> {
    this.plan().update(this.change(await this.#wallets.getById(walletId)));
  }

  protected abstract change(wallet: Wallet): Wallet;
}

/** Exists in the second release only. */
class ScheduledDepositAction extends WalletAction {
  protected change(wallet: Wallet): Wallet {
    return wallet.deposit(ONE);
  }
}

/** Deposits 1 at once and 1 by an action that the first release does not know. */
export class DepositLaterAction extends WalletAction {
  protected change(wallet: Wallet): Wallet {
    this.plan().schedule(this.clock.now(), ScheduledDepositAction, { walletId: wallet.id });
    return wallet.deposit(ONE);
  }
}

/** Emits an event that the first release does not know. */
export class CheckAction extends WalletAction {
  protected change(wallet: Wallet): Wallet {
    return wallet.copy().withEvent(new WalletCheckedEvent(wallet.id)).build();
  }
}

const CHECKING = 'CHECKING' as TransferState;

/** The transfer of the second release checks the source once the money has arrived. */
class TransferSaga extends Saga<Transfer> {
  override readonly name = 'TransferSaga';
  override readonly steps: SagaSteps<Transfer> = {
    INITIATED: step(TransferCompleteAction, {
      params: ({ destinationId, amount, currency: code }) => ({
        walletId: destinationId,
        amount,
        currency: code,
      }),
      done: (transfer) =>
        transfer.copy().state(CHECKING).withEvent(new TransferCompletedEvent(transfer.id)).build(),
      refused: (transfer, { message }) => transfer.reject(message),
    }),
    [CHECKING]: step(CheckAction, {
      params: ({ sourceId }: Transfer) => ({ walletId: sourceId }),
      done: (transfer: Transfer) => transfer.complete(),
    }),
    REFUNDING: step(TransferRefundAction, {
      params: ({ sourceId, amount }) => ({ walletId: sourceId, amount }),
      done: (transfer) => transfer.refund(),
    }),
  };
}

const checkedEvent: EventDescriptor = {
  name: 'WalletCheckedEvent',
  model: 'Wallet',
  eventClass: () => WalletCheckedEvent,
  fields: [],
};

/** Renames one event, and gives another one a second version. */
function eventOfSecond(event: EventDescriptor): EventDescriptor {
  if (event.name === 'WalletMoneyDepositedEvent') return { ...event, name: RENAMED, aliases: [event.name] };
  if (event.name !== 'WalletMoneyWithdrawnEvent') return event;
  return { ...event, version: 2, upcasters: [(payload) => payload] };
}

/** The wallet as one release defines it. */
export function definitionOf(facts: ReleaseFacts): ApplicationDefinition<Collaborators> {
  const { release } = facts;
  const isSecond = release === 2;
  const events = isSecond ? [...application.events.map(eventOfSecond), checkedEvent] : application.events;
  const select = (names: readonly string[]): readonly EventDescriptor[] =>
    events.filter(({ name }) => names.includes(name));
  return {
    ...application,
    migrations: rolloutMigrations,
    events,
    sagas: isSecond ? [defineSaga(transferModel, TransferSaga, 'TransferSaga')] : (application.sagas ?? []),
    wire: (context, collaborators) => {
      const { clock } = context;
      const wallets = new WalletRepository(context.repositories, walletModel);
      const own: readonly ActionDescriptor<never, unknown>[] = [
        {
          name: 'DepositLater',
          actionClass: DepositLaterAction,
          params: [ID],
          create: () => new DepositLaterAction(clock, wallets),
        },
        {
          name: 'ScheduledDeposit',
          actionClass: ScheduledDepositAction,
          params: [ID],
          create: () => new ScheduledDepositAction(clock, wallets),
        },
        {
          name: 'Check',
          actionClass: CheckAction,
          params: [ID],
          create: () => {
            if (facts.holdsChecks) throw new ShardUnavailableError('(0, 0)', 'checks are held');
            return new CheckAction(clock, wallets);
          },
        },
      ];
      const open: ActionDescriptor<never, unknown> = {
        name: 'Open',
        actionClass: OpenAction,
        params: [],
        create: () => new OpenAction(clock),
      };
      return [...application.wire(context, collaborators), open, ...(isSecond ? own : [])];
    },
    wireHandlers: () => [
      {
        name: 'Copy',
        transactional: true,
        events: select(SEEN),
        create: () => ({ handle: (envelope: EventEnvelope) => copy(envelope, release) }),
      },
      {
        name: 'Receipts',
        // Several processes may deposit into a counter at a time, while a lease moves.
        concurrency: 4,
        maximumAttempts: 1_000,
        events: select(['TransferInitiatedEvent']),
        create: () => ({ handle: (envelope: EventEnvelope) => count(envelope, facts) }),
      },
    ],
  };
}

async function copy({ id, transaction }: EventEnvelope, release: Release): Promise<void> {
  const text = 'INSERT INTO seen (event_id, release) VALUES ($1, $2)';
  await transaction.query({ text, values: [id, release] });
}

/** Deposits 1 on another shard for each transfer. */
async function count(envelope: EventEnvelope, { counters }: ReleaseFacts): Promise<void> {
  const shard = ShardedId.of(Wallet, envelope.modelId).resolveShardIdentifier();
  const counter = counters[SHARDS.indexOf(shard)];
  if (counter === undefined) throw new Error('Each shard has one');
  const walletId = ShardedId.of(Wallet, counter);
  await envelope.execute(WalletDepositMoneyAction, { walletId, amount: ONE });
}
