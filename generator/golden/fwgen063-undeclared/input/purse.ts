import {
  Action,
  AutoBuilder,
  type EventEnvelope,
  type EventHandler,
  FwAction,
  FwEventHandler,
  FwSaga,
  Model,
  ModelEvent,
  type Principal,
  Saga,
  type SagaSteps,
  type ShardedId,
} from 'fw-actions';

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

/** Was the class OpenWalletAction. */
@FwAction
export class OpenPurseAction extends Action<void, void> {
  protected perform(_principal: Principal): void {}
}

/** Was the class WalletMail. */
@FwEventHandler
export class PurseMail implements EventHandler<WalletOpened> {
  handle(_envelope: EventEnvelope<WalletOpened>): void {}
}

/** Was the class WalletNotes, and takes its checkpoint. */
@FwEventHandler({ aliases: ['WalletNotes'] })
export class PurseNotes implements EventHandler<WalletOpened> {
  handle(_envelope: EventEnvelope<WalletOpened>): void {}
}

/** Was the class WalletSaga. */
@FwSaga
export class PurseSaga extends Saga<Purse> {
  override readonly steps: SagaSteps<Purse> = {};
}
