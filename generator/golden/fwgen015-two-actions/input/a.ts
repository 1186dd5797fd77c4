import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingTouchActionParams {
  readonly thingId: Id<Thing>;
}

@FwAction

export class ThingTouchAction extends Action<ThingTouchActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingTouchActionParams): void {
    throw new Error('not called');
  }
}
