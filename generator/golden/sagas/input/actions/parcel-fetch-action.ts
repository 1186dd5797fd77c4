import { Action, FwAction, type Principal, type ShardedId } from 'fw-actions';
import type { Parcel } from '../models/parcel.js';

export interface ParcelFetchParams {
  readonly parcelId: ShardedId<Parcel>;
}

@FwAction
export class ParcelFetchAction extends Action<ParcelFetchParams, void> {
  protected perform(_principal: Principal, _params: ParcelFetchParams): void {}
}
