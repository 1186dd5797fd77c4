import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import type { Thing } from './thing.js';
import { Thing } from './thing.js';

export interface ThingBActionParams {
  readonly title: string;
}

@FwAction
@HttpRoute('POST', '/b', { ifMatch: 'title' })
export class ThingBAction extends Action<ThingBActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingBActionParams): void {
    throw new Error('not called');
  }
}

export interface ThingCActionParams {
  readonly thingId: Id<Thing>;
}

@FwAction
@HttpRoute('GET', '/c/{thingId}', { feed: 'id' })
export class ThingCAction extends Action<ThingCActionParams, void> {
  protected perform(_principal: Principal, _params: ThingCActionParams): void {
    throw new Error('not called');
  }
}

@FwAction
@HttpRoute('GET', '/', { feed: 'thingId' })
export class ThingDAction extends Action<ThingCActionParams, void> {
  protected perform(_principal: Principal, _params: ThingCActionParams): void {
    throw new Error('not called');
  }
}
