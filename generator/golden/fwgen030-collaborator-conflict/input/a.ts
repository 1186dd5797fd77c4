import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';
import type { Clock } from 'fw-actions';
import type { Mailer } from './ports.js';
export interface ThingAActionParams {
  readonly thingId: Id<Thing>;
}

@FwAction

export class ThingAAction extends Action<ThingAActionParams, void> {
  constructor(clock: Clock, port: Mailer) {
    super(clock);
  }

  protected perform(_principal: Principal, _params: ThingAActionParams): void {
    throw new Error('not called');
  }
}
