import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';
import type { Gone } from './gone.js';

interface Local {
  ping(): void;
}

export interface ThingAActionParams {
  readonly thingId: Id<Thing>;
}

@FwAction

export class ThingAAction extends Action<ThingAActionParams, void> {
  constructor(clock: Clock, local: Local, gone: Gone, untyped, { deep }: Thing, ...rest: string[]) {
    super(clock);
  }

  protected perform(_principal: Principal, _params: ThingAActionParams): void {
    throw new Error('not called');
  }
}
