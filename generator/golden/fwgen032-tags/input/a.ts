import { Action, type Default, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingTouchActionParams {
  /** @default BLUE */
  readonly color?: 'RED' | 'GREEN';
  readonly size: Default<number>;
  /** @default 'blue' */
  readonly shade: Default<string>;
  /** @secret */
  readonly pin?: string;
  readonly note?: string; /** A comment, and a tag @of other tools */
  readonly code?: string; /** @secret */
  readonly last?: string;
}

@FwAction

export class ThingTouchAction extends Action<ThingTouchActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingTouchActionParams): void {
    throw new Error('not called');
  }
}
