import { AutoBuilder, Model, ModelEvent, type ShardedId } from 'fw-actions';

@AutoBuilder
export class Account extends Model<Account, ShardedId<Account>, 'OPEN'> {
  readonly owner!: string;
}

export class AccountOpened extends ModelEvent<Account> {
  readonly owner: string;

  constructor(owner: string) {
    super();
    this.owner = owner;
  }
}
