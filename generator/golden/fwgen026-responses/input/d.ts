import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingDActionParams {
  readonly thingId: Id<Thing>;
}

@FwAction
@HttpRoute('POST', '/d', { response: Absent })
export class ThingDAction extends Action<ThingDActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingDActionParams): void {
    throw new Error('not called');
  }
}
