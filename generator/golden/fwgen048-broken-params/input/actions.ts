import { Action, FwAction, type Principal, type ShardedId } from 'fw-actions';
import type { Bill } from './bill.js';

export interface BillChargeParams {
  readonly bill: ShardedId<Bill>;
  readonly cents: string;
}

@FwAction
export class BillChargeAction extends Action<BillChargeParams, void> {
  protected perform(_principal: Principal, { bill, cents }: BillChargeParams): void {
    this.plan().schedule(new Date(), BillChargeAction, { bill, cents });
  }
}

/** @version 3 */
@FwAction
export class BillCloseAction extends Action<BillChargeParams, void> {
  protected perform(_principal: Principal, _params: BillChargeParams): void {}
}
