import { FwSaga } from 'fw-actions';
import { FetchingSaga } from './fetching-saga.js';

/** Its steps are those of a base class in another file. */
@FwSaga
export class ParcelPickupSaga extends FetchingSaga {}
