import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingThreeActionParams {
  readonly tags: readonly string[];
}

@FwAction
@HttpRoute('POST', '/three/{tags}')
export class ThingThreeAction extends Action<ThingThreeActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingThreeActionParams): void {
    throw new Error('not called');
  }
}
