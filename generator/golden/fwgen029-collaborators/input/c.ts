import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';
import { Clock } from 'fw-actions';
import { GadgetRepository } from './generated/gadget.js';
import { WidgetRepository } from './generated/parts.js';
import { ThingRepository } from './generated/thing.js';
export interface ThingCActionParams {
  readonly thingId: Id<Thing>;
}

@FwAction

export class ThingCAction extends Action<ThingCActionParams, void> {
  constructor(clock: Clock, things: ThingRepository, gadgets: GadgetRepository, widgets: WidgetRepository) {
    super(clock);
  }

  protected perform(_principal: Principal, _params: ThingCActionParams): void {
    throw new Error('not called');
  }
}
