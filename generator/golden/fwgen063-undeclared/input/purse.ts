import { Action, AutoBuilder, FwAction, Model, ModelEvent, type Principal, type ShardedId } from 'fw-actions';

/** Was the class Wallet. */
@AutoBuilder({ table: 'wallets' })
export class Purse extends Model<Purse, ShardedId<Purse>, 'OPEN'> {
  readonly owner!: string;
}

export class WalletOpened extends ModelEvent<Purse> {
  readonly owner!: string;
}

/** Was the class WalletAdded. */
export class PurseIncreased extends ModelEvent<Purse> {
  readonly cents!: number;
}

/** Was the class RemindAction. */
@FwAction
export class AdmonishAction extends Action<{ readonly text: string }, void> {
  protected perform(_principal: Principal, { text }: { readonly text: string }): void {
    this.plan().schedule(new Date(), AdmonishAction, { text });
  }
}
