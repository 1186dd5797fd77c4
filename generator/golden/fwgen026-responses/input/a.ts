import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingAActionParams {
  readonly thingId: Id<Thing>;
}

export class NoFrom {}

@FwAction
@HttpRoute('POST', '/a', { response: NoFrom })
export class ThingAAction extends Action<ThingAActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingAActionParams): void {
    throw new Error('not called');
  }
}
