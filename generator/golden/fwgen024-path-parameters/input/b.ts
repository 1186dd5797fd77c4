import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingTwoActionParams {
  readonly thingId?: Id<Thing>;
}

@FwAction
@HttpRoute('POST', '/two/{thingId}')
export class ThingTwoAction extends Action<ThingTwoActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingTwoActionParams): void {
    throw new Error('not called');
  }
}
