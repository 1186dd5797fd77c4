import { AutoBuilder, Model, ModelEvent, type ShardedId } from 'fw-actions';
import * as others from './others.js';
import { AccountRenamed as Renamed } from './others.js';

@AutoBuilder
export class Account extends Model<Account, ShardedId<Account>, 'OPEN'> {
  readonly owner!: string;

  events(): readonly ModelEvent<Account>[] {
    return [new AccountOpened(this.owner), new Renamed(), new others.AccountMoved()];
  }
}

export class AccountOpened extends ModelEvent<Account> {
  readonly owner: string;

  constructor(owner: string) {
    super();
    this.owner = owner;
  }
}

export class AccountClosed extends ModelEvent<Account> {
  readonly reason!: string;
}
