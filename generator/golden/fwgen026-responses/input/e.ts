import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingEActionParams {
  readonly thingId: Id<Thing>;
}

export class Fine {
  static from(): Fine {
    return new Fine();
  }
}

@FwAction
@HttpRoute('POST', '/e', { status: 204, response: Fine })
export class ThingEAction extends Action<ThingEActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingEActionParams): void {
    throw new Error('not called');
  }
}
