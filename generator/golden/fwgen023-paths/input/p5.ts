import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingP5ActionParams {
  readonly thingId: Id<Thing>;
}

@FwAction
@HttpRoute('POST', '/a?b=1')
export class ThingP5Action extends Action<ThingP5ActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingP5ActionParams): void {
    throw new Error('not called');
  }
}
