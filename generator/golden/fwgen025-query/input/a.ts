import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingListActionParams {
  readonly tags?: readonly string[][];
  readonly names?: readonly string[];
  readonly box: { readonly size: number };
  readonly title: string | null;
}

@FwAction
@HttpRoute('GET', '/things')
export class ThingListAction extends Action<ThingListActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingListActionParams): void {
    throw new Error('not called');
  }
}
