import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingAActionParams {
  readonly thingId: Id<Thing>;
}

@FwAction
@HttpRoute('POST', '/a/{thingId}', { ifMatch: 'id' })
export class ThingAAction extends Action<ThingAActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingAActionParams): void {
    throw new Error('not called');
  }
}
