import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingBActionParams {
  readonly thingId: Id<Thing>;
}

class Hidden {
  static from(): Hidden {
    return new Hidden();
  }
}

@FwAction
@HttpRoute('POST', '/b', { response: Hidden })
export class ThingBAction extends Action<ThingBActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingBActionParams): void {
    throw new Error('not called');
  }
}
