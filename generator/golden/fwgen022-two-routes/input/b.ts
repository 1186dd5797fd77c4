import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingTwoActionParams {
  readonly id: Id<Thing>;
}

@FwAction
@HttpRoute('POST', '/things/{id}')
export class ThingTwoAction extends Action<ThingTwoActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingTwoActionParams): void {
    throw new Error('not called');
  }
}
