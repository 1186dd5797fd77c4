import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingP2ActionParams {
  readonly thingId: Id<Thing>;
}

@FwAction
@HttpRoute('POST', '/a//b')
export class ThingP2Action extends Action<ThingP2ActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingP2ActionParams): void {
    throw new Error('not called');
  }
}
