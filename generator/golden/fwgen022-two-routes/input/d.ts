import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingFourActionParams {
  readonly title: string;
}

@FwAction
@HttpRoute('GET', '/health/live')
export class ThingFourAction extends Action<ThingFourActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingFourActionParams): void {
    throw new Error('not called');
  }
}
