import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingOneActionParams {
  readonly thingId: Id<Thing>;
}

@FwAction
@HttpRoute('POST', '/things/{thingId}')
export class ThingOneAction extends Action<ThingOneActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingOneActionParams): void {
    throw new Error('not called');
  }
}
