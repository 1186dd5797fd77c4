import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingP4ActionParams {
  readonly thingId: Id<Thing>;
}

@FwAction
@HttpRoute('POST', '/things/{thingId}/{thingId}')
export class ThingP4Action extends Action<ThingP4ActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingP4ActionParams): void {
    throw new Error('not called');
  }
}
