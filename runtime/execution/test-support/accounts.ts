import type { DatabaseHarness } from '../../../test/databases/databases.js';
import { rowsAsOwner } from '../../../test/databases/roles.js';
import { Action } from '../../action/action.js';
import type { ActionDescriptor } from '../../action/action-descriptor.js';
import type { ActionPlan } from '../../action/action-plan.js';
import { ActionRegistry } from '../../action/action-registry.js';
import {
  ExecutionConfiguration,
  type ExecutionConfigurationBuilder,
} from '../../action/execution-configuration.js';
import type { ApplicationDefinition } from '../../application-definition.js';
import { CODEGEN_VERSION } from '../../codegen/version.js';
import { type ExecutionEnvironment, systemEnvironment } from '../../concurrency/execution-environment.js';
import { type Clock, systemClock } from '../../domain/clock.js';
import { Decimal } from '../../domain/decimal.js';
import type { EventDescriptor } from '../../domain/descriptor.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import type { Caller, Principal } from '../../domain/principal.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import {
  type Account,
  AccountCredited,
  accountModel,
  newAccount,
} from '../../domain/test-support/account.js';
import { RefusedError } from '../../errors.js';
import type { Migration } from '../../migration/migration.js';
import { EventCatalog } from '../../persistence/codec/event-catalog.js';
import { Repository, type RepositoryContext } from '../../persistence/read/repository.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { type Interceptor, wrappedRegistry } from '../../sharding/test-support/wrapped-registry.js';
import { ActionExecutor } from '../action-executor.js';
import { CrossShardJournal } from '../cross-shard/cross-shard-journal.js';
import { ShardGateways } from '../shard-gateways.js';

export const HERE: ShardIdentifier = ShardIdentifier.of(0, 0);
export const THERE: ShardIdentifier = ShardIdentifier.of(1, 0);
export const ALICE: Caller = { name: 'alice' };
export const configure = (): ExecutionConfigurationBuilder =>
  ExecutionConfiguration.Builder.executionConfiguration();
export const ACROSS: ExecutionConfiguration = configure().allowCrossShard(true).build();

export const accountMigrations: readonly Migration[] = [
  {
    name: '0001_accounts',
    up: `create table accounts (
      id uuid primary key check (eventlog.is_own_id(id)),
      state text not null,
      version bigint not null,
      balance numeric(19,4) not null check (balance < 1000000),
      nickname text,
      closed_by text,
      created_date timestamptz not null,
      updated_date timestamptz not null
    )`,
  },
];

export class AccountRepository extends Repository<Account> {
  constructor(context: RepositoryContext) {
    super(context, accountModel);
  }
}

interface OpenParams {
  readonly shard: ShardIdentifier;
  readonly balance: Decimal;
}

export class OpenAction extends Action<OpenParams, Account> {
  protected perform(_principal: Principal, { shard, balance }: OpenParams): Account {
    return this.plan().add(newAccount(balance, shard).updatedDate(this.clock.now()).build());
  }
}

interface CreditParams {
  readonly account: string;
  readonly amount: Decimal;
  readonly pin?: string;
  readonly card?: { readonly number: string; readonly pin: string };
}

export class CreditAction extends Action<CreditParams, Account> {
  readonly #accounts: AccountRepository;

  constructor(clock: Clock, accounts: AccountRepository) {
    super(clock);
    this.#accounts = accounts;
  }

  protected async perform(_principal: Principal, { account, amount, pin }: CreditParams): Promise<Account> {
    if (amount.isNegative()) throw new RefusedError('Only more');
    if (pin === 'later')
      this.plan().schedule(new Date('2030-01-01T00:00:00Z'), CreditAction, { account, amount, pin });
    if (amount.isZero()) return this.#accounts.getById(account);
    return this.plan().update((await this.#accounts.getById(account)).credit(amount));
  }
}

interface MoveParams {
  readonly from: string;
  readonly to: readonly string[];
  readonly amount: Decimal;
  /** Id of a scheduled credit of the first of the others. The action cancels it and schedules a new one. */
  readonly putOff?: string;
}

/** Debits an amount from one account and credits it to each of the others, on any shard. */
export class MoveAction extends Action<MoveParams, void> {
  readonly #accounts: AccountRepository;

  constructor(clock: Clock, accounts: AccountRepository) {
    super(clock);
    this.#accounts = accounts;
  }

  protected async perform(_principal: Principal, { from, to, amount, putOff }: MoveParams): Promise<void> {
    const source = await this.#accounts.getById(from);
    if (putOff !== undefined) await this.#putOff(putOff, String(to[0]), amount);
    this.plan().update(source.credit(amount.times(-to.length)));
    for (const id of to) this.plan().update((await this.#accounts.getById(id)).credit(amount));
  }

  async #putOff(scheduled: string, account: string, amount: Decimal): Promise<string> {
    this.plan().cancelSchedule(scheduled);
    const params = { account, amount, beside: (await this.#accounts.getById(account)).id };
    // The id is requested before the first staged model, which puts the action on the account's shard.
    return this.plan().schedule(new Date('2040-01-01T00:00:00Z'), CreditAction, params).id;
  }
}

/** The `perform` of one test. */
export type Work<Result = unknown> = (
  plan: ActionPlan,
  accounts: AccountRepository,
) => Promise<Result> | Result;

export class DoAction extends Action<{ readonly work: Work }, unknown> {
  readonly #accounts: AccountRepository;

  constructor(clock: Clock, accounts: AccountRepository) {
    super(clock);
    this.#accounts = accounts;
  }

  protected perform(_principal: Principal, { work }: { readonly work: Work }): unknown {
    return work(this.plan(), this.#accounts);
  }
}

/** A small application for tests. */
export interface TestBank {
  readonly accounts: AccountRepository;
  readonly executor: ActionExecutor;
  readonly gateways: ShardGateways;
  readonly journal: CrossShardJournal;
  readonly databases: DatabaseRegistry;
  open(shard: ShardIdentifier, balance: number): Promise<string>;
  credit(account: string, amount: number): Promise<Account>;
  move(from: string, amount: number, ...to: readonly string[]): Promise<void>;
  /** Executes the given work as one action. */
  run<Result>(work: Work<Result>, configuration?: ExecutionConfiguration): Promise<Result>;
  balance(account: string): Promise<string>;
  /** Values of a query of the test, which runs as the owner of the schema. */
  rows(shard: ShardIdentifier, sql: string): Promise<readonly (readonly unknown[])[]>;
}

/** New databases with accounts, on two shards. */
export function makeAccounts(harness: DatabaseHarness): Promise<DatabaseRegistry> {
  return harness.makeShards({ shards: [HERE, THERE], migrations: accountMigrations });
}

/** A bank on new databases. @param intercept gets its single statements */
export async function makeBank(harness: DatabaseHarness, intercept?: Interceptor): Promise<TestBank> {
  const databases = await makeAccounts(harness);
  return openBank(intercept === undefined ? databases : wrappedRegistry(databases, intercept));
}

/** @param change changes this release's actions into those of another one */
export function openBank(
  databases: DatabaseRegistry,
  environment: ExecutionEnvironment = systemEnvironment(),
  change: (actions: readonly ActionDescriptor[]) => readonly ActionDescriptor[] = (actions) => actions,
): TestBank {
  const models: readonly ModelDescriptor[] = [accountModel as unknown as ModelDescriptor];
  const gateways = new ShardGateways(databases, 'test', new EventCatalog(accountEvents));
  const accounts = new AccountRepository(gateways);
  const registry = new ActionRegistry(change(accountActions(accounts, environment.clock)));
  const executor = new ActionExecutor({ registry, gateways, models, environment });
  const journal = new CrossShardJournal(gateways, environment, { models, registry });
  return {
    ...{ accounts, executor, gateways, journal, databases },
    open: async (shard, balance) => {
      const account = await executor.execute(ALICE, OpenAction, { shard, balance: new Decimal(balance) });
      return account.id.getValue();
    },
    credit: (account, amount) =>
      executor.execute(ALICE, CreditAction, { account, amount: new Decimal(amount) }),
    move: (from, amount, ...to) =>
      executor.execute(ALICE, MoveAction, { from, to, amount: new Decimal(amount) }, ACROSS),
    run: async <Result>(work: Work<Result>, configuration?: ExecutionConfiguration): Promise<Result> => {
      const result: unknown = await executor.execute(ALICE, DoAction, { work }, configuration);
      // The work's result, or that of an earlier run of it.
      return result as Result;
    },
    balance: async (account) => (await accounts.getById(account)).balance.toFixed(),
    rows: (shard, text) => rowsAsOwner(databases, shard, text),
  };
}

export const accountEvents: readonly EventDescriptor[] = [
  {
    name: 'AccountCredited',
    model: 'Account',
    eventClass: () => AccountCredited,
    fields: [{ name: 'amount', type: { kind: 'decimal', precision: 19, scale: 4 } }],
  },
];

/** Equal to emitted code. */
export const accountApplication: ApplicationDefinition = {
  codegenVersion: CODEGEN_VERSION,
  models: [accountModel as unknown as ModelDescriptor],
  events: accountEvents,
  wire: ({ repositories }) => accountActions(new AccountRepository(repositories)),
  routes: [],
  api: { title: 'Test', version: '1' },
  migrations: accountMigrations,
};

function accountActions(
  accounts: AccountRepository,
  clock: Clock = systemClock,
): readonly ActionDescriptor[] {
  const decimal = { kind: 'decimal', precision: 19, scale: 4 } as const;
  const text = { kind: 'string' } as const;
  const card = {
    kind: 'object',
    fields: [
      { name: 'number', type: text },
      { name: 'pin', type: text, secret: true },
    ],
  } as const;
  return [
    { name: 'Open', actionClass: OpenAction, params: [], create: () => new OpenAction(clock) },
    { name: 'Do', actionClass: DoAction, params: [], create: () => new DoAction(clock, accounts) },
    {
      name: 'Credit',
      actionClass: CreditAction,
      params: [
        { name: 'account', type: { kind: 'uuid' } },
        { name: 'amount', type: decimal },
        { name: 'pin', type: { kind: 'string' }, optional: true, secret: true },
        { name: 'card', type: card, optional: true },
      ],
      create: () => new CreditAction(clock, accounts),
    },
    {
      name: 'Move',
      actionClass: MoveAction,
      params: [
        { name: 'from', type: { kind: 'uuid' } },
        { name: 'amount', type: decimal },
      ],
      create: () => new MoveAction(clock, accounts),
    },
  ];
}
