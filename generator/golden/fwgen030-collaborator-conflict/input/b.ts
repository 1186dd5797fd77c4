import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';
import type { Clock } from 'fw-actions';
import type { Printer } from './ports.js';
export interface ThingBActionParams {
  readonly thingId: Id<Thing>;
}

@FwAction

export class ThingBAction extends Action<ThingBActionParams, void> {
  constructor(clock: Clock, port: Printer) {
    super(clock);
  }

  protected perform(_principal: Principal, _params: ThingBActionParams): void {
    throw new Error('not called');
  }
}
