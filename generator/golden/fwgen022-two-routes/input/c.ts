import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingThreeActionParams {
  readonly other: Id<Thing>;
}

@FwAction
@HttpRoute('GET', '/things/{other}')
export class ThingThreeAction extends Action<ThingThreeActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingThreeActionParams): void {
    throw new Error('not called');
  }
}
