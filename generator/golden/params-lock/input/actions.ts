import { Action, type Decimal, FwAction, type Principal, type ShardedId } from 'fw-actions';
import type { Bill } from './bill.js';
import type { BillChargeActionParamsUpcasters } from './generated/versions.js';

export interface BillChargeParams {
  readonly bill: ShardedId<Bill>;
  readonly amount: Decimal;
  readonly parts: readonly { readonly name: string | null; readonly colour?: 'RED' | 'BLUE' }[];
  readonly note?: string;
}

/**
 * Scheduled by another action. The lock knows nothing of its note.
 * @version 2
 */
@FwAction({ name: 'Bill.charge' })
export class BillChargeAction extends Action<BillChargeParams, void> {
  static readonly upcasters: BillChargeActionParamsUpcasters = [
    ({ bill, cents }) => ({ bill, amount: String(cents / 100), parts: [{ name: null }] }),
  ];

  protected perform(_principal: Principal, _params: BillChargeParams): void {}
}

export interface BillRemindParams {
  readonly bill: ShardedId<Bill>;
}

/** Schedules an action of a base class's choice, and itself. */
@FwAction
export class BillRemindAction extends Action<BillRemindParams, void> {
  protected perform(_principal: Principal, { bill }: BillRemindParams): void {
    this.plan().schedule(new Date(), BillRemindAction, { bill });
    const later = this.plan();
    later.schedule(new Date(Date.UTC(2030, 1, 1)), BillChargeAction, {
      bill,
      amount: 1 as unknown as Decimal,
      parts: [],
    });
  }
}

export interface BillSplitParams {
  readonly from: ShardedId<Bill>;
  readonly to: ShardedId<Bill>;
}

/**
 * Its shard transactions are kept in the journal.
 * @crossShard
 */
@FwAction
export class BillSplitAction extends Action<BillSplitParams, void> {
  protected perform(_principal: Principal, _params: BillSplitParams): void {}
}

/** Nothing keeps its params. */
@FwAction
export class BillShowAction extends Action<BillRemindParams, void> {
  protected perform(_principal: Principal, _params: BillRemindParams): void {}
}
