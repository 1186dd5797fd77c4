import { Action, FwAction, type Principal, type ShardedId } from 'fw-actions';
import type { Parcel } from '../models/parcel.js';

export interface ParcelCarryParams {
  readonly parcelId: ShardedId<Parcel>;
}

@FwAction
export class ParcelCarryAction extends Action<ParcelCarryParams, void> {
  protected perform(_principal: Principal, _params: ParcelCarryParams): void {}
}
