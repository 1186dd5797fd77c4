import { Action, Allow, everyone, FwAction, HttpRoute, type Id } from 'fw-actions';
import type { Thing } from './thing.js';

@FwAction
@HttpRoute('POST', '/things/{id}/touch')
export class ThingTouchAction extends Action<{ readonly id: Id<Thing> }, void> {
  protected perform(): void {}
}

@FwAction
@HttpRoute('POST', '/things/{id}/see')
@Allow(everyone)
export class ThingSeeAction extends Action<{ readonly id: Id<Thing> }, void> {
  protected perform(): void {}
}

/** Without a route there is no caller. */
@FwAction
export class ThingSweepAction extends Action<{ readonly id: Id<Thing> }, void> {
  protected perform(): void {}
}
