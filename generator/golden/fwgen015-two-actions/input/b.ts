import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingTapActionParams {
  readonly thingId: Id<Thing>;
}

@FwAction({ name: 'ThingTouchAction' })

export class ThingTapAction extends Action<ThingTapActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingTapActionParams): void {
    throw new Error('not called');
  }
}
