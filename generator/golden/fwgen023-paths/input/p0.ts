import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingP0ActionParams {
  readonly thingId: Id<Thing>;
}

@FwAction
@HttpRoute('POST', 'things')
export class ThingP0Action extends Action<ThingP0ActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingP0ActionParams): void {
    throw new Error('not called');
  }
}
