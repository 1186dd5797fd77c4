import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingNameActionParams {
  readonly title: string;
}

@FwAction({ name: ' ' })

export class ThingNameAction extends Action<ThingNameActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingNameActionParams): void {
    throw new Error('not called');
  }
}
