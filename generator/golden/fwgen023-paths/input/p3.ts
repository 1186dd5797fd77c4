import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingP3ActionParams {
  readonly thingId: Id<Thing>;
}

@FwAction
@HttpRoute('POST', '/things/x{thingId}')
export class ThingP3Action extends Action<ThingP3ActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingP3ActionParams): void {
    throw new Error('not called');
  }
}
