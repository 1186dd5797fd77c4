import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingBadActionParams {
  readonly thingId: Id<Thing>;
}

@FwAction

export class ThingBadAction extends Action<string, void> {
  
  protected perform(_principal: Principal, _params: ThingBadActionParams): void {
    throw new Error('not called');
  }
}
