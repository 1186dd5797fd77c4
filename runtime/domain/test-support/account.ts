import type { Decimal } from '../decimal.js';
import type { ModelDescriptor } from '../entity.js';
import { type Id, ShardedId } from '../id.js';
import { Model } from '../model.js';
import { INITIAL_VERSION, ModelBuilder } from '../model-builder.js';
import { ModelEvent } from '../model-event.js';
import { ShardIdentifier } from '../shard-identifier.js';

export type AccountState = 'OPEN' | 'GONE';

/** A sharded model as the generator would emit it, with an optional and a nullable field. */
export class Account extends Model<Account, ShardedId<Account>, AccountState> {
  readonly balance!: Decimal;
  readonly nickname?: string;
  readonly closedBy!: string | null;

  credit(amount: Decimal): Account {
    const balance = this.balance.plus(amount);
    return this.copy().balance(balance).withEvent(new AccountCredited(this.id, amount)).build();
  }

  copy(): AccountBuilder {
    return AccountBuilder.copyOf(this);
  }
}

export class AccountCredited extends ModelEvent<Account> {
  readonly amount: Decimal;

  constructor(accountId: Id<Account>, amount: Decimal) {
    super(accountId.getValue(), Account);
    this.amount = amount;
  }
}

export const accountModel: ModelDescriptor<Account> = {
  name: 'Account',
  kind: 'model',
  modelClass: () => Account,
  table: 'accounts',
  sharded: true,
  deletedStates: ['GONE'],
  columns: [
    { field: 'id', column: 'id', type: { kind: 'id', model: 'Account', sharded: true }, sqlType: 'uuid' },
    { field: 'state', column: 'state', type: { kind: 'enum', values: ['OPEN', 'GONE'] }, sqlType: 'text' },
    { field: 'version', column: 'version', type: { kind: 'number' }, sqlType: 'bigint' },
    {
      field: 'balance',
      column: 'balance',
      type: { kind: 'decimal', precision: 19, scale: 4 },
      sqlType: 'numeric(19,4)',
    },
    { field: 'nickname', column: 'nickname', type: { kind: 'string' }, sqlType: 'text', optional: true },
    { field: 'closedBy', column: 'closed_by', type: { kind: 'string' }, sqlType: 'text', nullable: true },
    { field: 'createdDate', column: 'created_date', type: { kind: 'instant' }, sqlType: 'timestamptz' },
    { field: 'updatedDate', column: 'updated_date', type: { kind: 'instant' }, sqlType: 'timestamptz' },
  ],
};

export type AccountField = 'id' | 'state' | 'version' | 'createdDate' | 'balance' | 'closedBy';

export class AccountBuilder<Set extends AccountField = AccountField> extends ModelBuilder<Account> {
  declare protected readonly setFields?: (fields: Set) => void;

  private constructor() {
    super(accountModel);
  }

  static account(): AccountBuilder<never> {
    return new AccountBuilder<never>();
  }

  static copyOf(account: Account): AccountBuilder {
    return new AccountBuilder().copyAll(account);
  }

  copyBase(account: Account): AccountBuilder<Set | 'id' | 'state' | 'version' | 'createdDate'> {
    return this.carryBase(account);
  }

  id(id: ShardedId<Account>): AccountBuilder<Set | 'id'> {
    return this.put('id', id);
  }

  state(state: AccountState): AccountBuilder<Set | 'state'> {
    return this.put('state', state);
  }

  withInitialVersion(): AccountBuilder<Set | 'version'> {
    return this.put('version', INITIAL_VERSION);
  }

  createdDate(createdDate: Date): AccountBuilder<Set | 'createdDate'> {
    return this.put('createdDate', createdDate);
  }

  updatedDate(updatedDate: Date): AccountBuilder<Set> {
    return this.put('updatedDate', updatedDate);
  }

  balance(balance: Decimal): AccountBuilder<Set | 'balance'> {
    return this.put('balance', balance);
  }

  nickname(nickname: string | undefined): AccountBuilder<Set> {
    return this.put('nickname', nickname);
  }

  closedBy(closedBy: string | null): AccountBuilder<Set | 'closedBy'> {
    return this.put('closedBy', closedBy);
  }

  build(this: AccountBuilder): Account {
    return this.instantiate();
  }
}

/** Opening date of the tests' accounts. */
export const OPENED_AT: Date = new Date('2024-06-01T08:00:00.000Z');

/** A builder with every required field set: a new, open account on (0, 0) or another shard. */
export function newAccount(
  balance: Decimal,
  shard: ShardIdentifier = ShardIdentifier.of(0, 0),
): AccountBuilder {
  return AccountBuilder.account()
    .id(ShardedId.generate(Account, shard))
    .state('OPEN')
    .withInitialVersion()
    .createdDate(OPENED_AT)
    .balance(balance)
    .closedBy(null);
}
