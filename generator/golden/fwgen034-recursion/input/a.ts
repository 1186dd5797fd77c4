import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingTouchActionParams {
  readonly thingId: Id<Thing>;
}

export type Loop = Loop;

@FwAction

export class ThingTouchAction extends Action<Loop, void> {
  
  protected perform(_principal: Principal, _params: ThingTouchActionParams): void {
    throw new Error('not called');
  }
}
