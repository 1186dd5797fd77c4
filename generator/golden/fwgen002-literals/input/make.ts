import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingMakeActionParams {
  readonly title: string;
}

@FwAction
@HttpRoute('POST', '/things', { status: 404, tag: 5, bodyBytes: 0, timeoutMs: '5s', bodySize: 3, ...{} })
export class ThingMakeAction extends Action<ThingMakeActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingMakeActionParams): void {
    throw new Error('not called');
  }
}

@FwAction
@HttpRoute('DELETE', '/things', { bodyBytes: 1_000 })
export class ThingDropAction extends Action<ThingMakeActionParams, void> {
  protected perform(_principal: Principal, _params: ThingMakeActionParams): void {
    throw new Error('not called');
  }
}
