import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingP6ActionParams {
  readonly thingId: Id<Thing>;
}

@FwAction
@HttpRoute('POST', '/{thing-id}')
export class ThingP6Action extends Action<ThingP6ActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingP6ActionParams): void {
    throw new Error('not called');
  }
}
