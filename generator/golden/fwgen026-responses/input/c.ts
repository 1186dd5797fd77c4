import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingCActionParams {
  readonly thingId: Id<Thing>;
}

@FwAction
@HttpRoute('POST', '/c', { response: { from: () => ({}) } })
export class ThingCAction extends Action<ThingCActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingCActionParams): void {
    throw new Error('not called');
  }
}
