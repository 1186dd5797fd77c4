import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingMakeActionParams {
  readonly title: string;
}

@FwAction
@HttpRoute('POST', '/things', { status: 404, tag: 5, ...{} })
export class ThingMakeAction extends Action<ThingMakeActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingMakeActionParams): void {
    throw new Error('not called');
  }
}
