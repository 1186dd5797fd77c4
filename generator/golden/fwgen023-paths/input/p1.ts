import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingP1ActionParams {
  readonly thingId: Id<Thing>;
}

@FwAction
@HttpRoute('POST', '/things/')
export class ThingP1Action extends Action<ThingP1ActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingP1ActionParams): void {
    throw new Error('not called');
  }
}
