import { rowsAsOwner } from '../../../test/databases/roles.js';
import { Action } from '../../action/action.js';
import type { ActionDescriptor } from '../../action/action-descriptor.js';
import { ActionRegistry } from '../../action/action-registry.js';
import type { HandlerSettings } from '../../action/markers.js';
import type { ExecutionEnvironment } from '../../concurrency/execution-environment.js';
import type { ExecutionDefaults } from '../../config/types.js';
import { type Clock, systemClock } from '../../domain/clock.js';
import { Decimal } from '../../domain/decimal.js';
import type { EventDescriptor } from '../../domain/descriptor.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import type { Logger } from '../../domain/logger.js';
import type { Caller, Principal } from '../../domain/principal.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { type Account, AccountCredited, accountModel } from '../../domain/test-support/account.js';
import { RefusedError } from '../../errors.js';
import { ActionExecutor } from '../../execution/action-executor.js';
import { ShardGateways } from '../../execution/shard-gateways.js';
import {
  AccountRepository,
  ALICE,
  accountMigrations,
  CreditAction,
  HERE,
  OpenAction,
} from '../../execution/test-support/accounts.js';
import type { Migration } from '../../migration/migration.js';
import { EventCatalog } from '../../persistence/codec/event-catalog.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import type { Consumer } from '../delivery/consumer.js';
import type { DeliveryLimits } from '../delivery/delivery-limits.js';
import type { HandlerDescriptor } from '../delivery/handler-descriptor.js';
import { EventDelivery } from '../event-delivery.js';
import type { EventEnvelope } from '../log/event-envelope.js';

export type CreditedEnvelope = EventEnvelope<AccountCredited>;

export const creditedEvent: EventDescriptor = {
  name: 'AccountCredited',
  model: 'Account',
  eventClass: () => AccountCredited,
  fields: [{ name: 'amount', type: { kind: 'decimal', precision: 19, scale: 4 } }],
};

/** Accounts, and a table that handlers of the tests write to. */
export const ledgerMigrations: readonly Migration[] = [
  ...accountMigrations,
  {
    name: '0002_seen',
    up: `create table seen (
      nr bigint generated always as identity,
      handler text not null, event_id uuid not null, model_id text not null, version bigint not null, who text)`,
  },
];

/** The descriptor of a handler, as the generator would emit it. */
export function handlerOf(
  name: string,
  handle: (envelope: CreditedEnvelope) => Promise<void> | void,
  settings: HandlerSettings & { readonly event?: EventDescriptor } = {},
): HandlerDescriptor {
  const { event = creditedEvent, ...rest } = settings;
  return { name, events: [event], create: () => ({ handle }), ...rest };
}

interface CreditLaterParams {
  readonly account: string;
  readonly amount: Decimal;
  readonly at: Date;
  /** The part of the system that runs the credit. */
  readonly system?: string;
}

/** Schedules a credit, and refuses a negative one after that. */
class CreditLaterAction extends Action<CreditLaterParams, void> {
  readonly #accounts: AccountRepository;

  constructor(clock: Clock, accounts: AccountRepository) {
    super(clock);
    this.#accounts = accounts;
  }

  protected async perform(
    _principal: Principal,
    { account, amount, at, system }: CreditLaterParams,
  ): Promise<void> {
    const options = system === undefined ? {} : { principal: system };
    this.plan().schedule(at, CreditAction, { account, amount }, options);
    if (amount.isNegative()) throw new RefusedError('no');
    this.plan().expect(await this.#accounts.getById(account));
  }
}

interface RemindParams {
  readonly account: string;
  readonly at: Date;
  /** Id of a scheduled credit that the plan cancels. */
  readonly instead?: string;
}

/** Credits 1 now and 1 later, and cancels `instead` if given. Returns the id of the later credit. */
class RemindAction extends Action<RemindParams, string> {
  readonly #accounts: AccountRepository;

  constructor(clock: Clock, accounts: AccountRepository) {
    super(clock);
    this.#accounts = accounts;
  }

  protected async perform(_principal: Principal, { account, at, instead }: RemindParams): Promise<string> {
    const one = new Decimal(1);
    this.plan().update((await this.#accounts.getById(account)).credit(one));
    if (instead !== undefined) this.plan().cancelSchedule(instead);
    return this.plan().schedule(at, CreditAction, { account, amount: one }).id;
  }
}

/** An application with accounts and handlers. Several may share their databases, as processes do. */
export interface Ledger {
  readonly executor: ActionExecutor;
  readonly gateways: ShardGateways;
  readonly registry: ActionRegistry;
  readonly events: EventDelivery;
  readonly databases: DatabaseRegistry;
  readonly warnings: string[];
  open(shard?: ShardIdentifier, balance?: number): Promise<string>;
  credit(account: string, amount?: number): Promise<Account>;
  creditLater(account: string, amount: number, at: Date, caller?: Caller, system?: string): Promise<void>;
  /** Credits 1 now and 1 later. @returns the id of the scheduled credit */
  remind(account: string, at: Date, instead?: string): Promise<string>;
  balance(account: string): Promise<string>;
  /** Values of a query of the test, which runs as the owner of the schema. */
  rows(sql: string, shard?: ShardIdentifier): Promise<readonly (readonly unknown[])[]>;
}

export interface LedgerOptions {
  readonly handlers?: readonly HandlerDescriptor[];
  readonly sinks?: readonly Consumer[];
  readonly limits?: Partial<DeliveryLimits>;
  readonly environment?: ExecutionEnvironment;
  readonly execution?: Partial<ExecutionDefaults>;
  readonly log?: Logger;
  /** Changes this release's actions into those of another release. */
  readonly change?: (
    actions: readonly ActionDescriptor[],
    accounts: AccountRepository,
  ) => readonly ActionDescriptor[];
}

export function openLedger(databases: DatabaseRegistry, options: LedgerOptions = {}): Ledger {
  const models: readonly ModelDescriptor[] = [accountModel as unknown as ModelDescriptor];
  const gateways = new ShardGateways(databases, 'test', new EventCatalog([creditedEvent]));
  const accounts = new AccountRepository(gateways);
  const registry = new ActionRegistry((options.change ?? ((all) => all))(ledgerActions(accounts), accounts));
  const executor = new ActionExecutor({
    registry,
    gateways,
    models,
    defaults: { timeoutMs: 10_000, maximumAttempts: 20, ...options.execution },
    ...(options.environment === undefined ? {} : { environment: options.environment }),
    ...(options.log === undefined ? {} : { log: options.log }),
  });
  const warnings: string[] = [];
  const { handlers = [], sinks = [], limits = {} } = options;
  const events = new EventDelivery({
    databases,
    handlers,
    sinks,
    executor,
    registry,
    limits,
    warn: (message) => warnings.push(message),
    ...(options.log === undefined ? {} : { log: options.log }),
  });
  gateways.onCommitted = (shard) => events.committed(shard);
  return {
    executor,
    gateways,
    registry,
    events,
    databases,
    warnings,
    open: async (shard = HERE, balance = 0) => {
      const account = await executor.execute(ALICE, OpenAction, { shard, balance: new Decimal(balance) });
      return account.id.getValue();
    },
    credit: (account, amount = 1) =>
      executor.execute(ALICE, CreditAction, { account, amount: new Decimal(amount) }),
    creditLater: (account, amount, at, caller = ALICE, system) =>
      executor.execute(caller, CreditLaterAction, {
        ...{ account, amount: new Decimal(amount), at },
        ...(system === undefined ? {} : { system }),
      }),
    remind: (account, at, instead) =>
      executor.execute(ALICE, RemindAction, { account, at, ...(instead === undefined ? {} : { instead }) }),
    balance: async (account) => (await accounts.getById(account)).balance.toFixed(),
    rows: (text, shard = HERE) => rowsAsOwner(databases, shard, text),
  };
}

function ledgerActions(accounts: AccountRepository): readonly ActionDescriptor[] {
  const actions: readonly ActionDescriptor<never, unknown>[] = [
    { name: 'Open', actionClass: OpenAction, params: [], create: () => new OpenAction(systemClock) },
    {
      name: 'Credit',
      actionClass: CreditAction,
      params: [
        { name: 'account', type: { kind: 'uuid' } },
        { name: 'amount', type: { kind: 'decimal', precision: 19, scale: 4 } },
        { name: 'pin', type: { kind: 'string' }, optional: true, secret: true },
      ],
      create: () => new CreditAction(systemClock, accounts),
    },
    {
      name: 'CreditLater',
      actionClass: CreditLaterAction,
      params: [],
      create: () => new CreditLaterAction(systemClock, accounts),
    },
    {
      name: 'Remind',
      actionClass: RemindAction,
      params: [],
      create: () => new RemindAction(systemClock, accounts),
    },
  ];
  return actions;
}

/** Drops the partitions that the first migration made, as in older databases: every row is in the default partition. */
export async function dropMadePartitions({ rows }: Pick<Ledger, 'rows'>): Promise<void> {
  const made = await rows(`SELECT inhrelid::regclass::text FROM pg_inherits
    WHERE inhparent IN ('eventlog.events'::regclass, 'eventlog.actions'::regclass)
      AND inhrelid::regclass::text NOT LIKE '%_default'`);
  for (const [name] of made) await rows(`DROP TABLE ${String(name)}`);
}

/**
 * Waits until a condition is true. The default limit is far above the time that delivery takes, because any open
 * transaction on the server, such as one of a parallel test, holds back the horizon.
 * @throws Error after `timeoutMs`
 */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 60_000): Promise<void> {
  const giveUpAt = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > giveUpAt) throw new Error('It did not come to pass in time');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
