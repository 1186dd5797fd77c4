import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingGActionParams {
  readonly thingId: Id<Thing>;
}

export class Known {
  readonly name?: string;

  static from(thing: Thing | null = null): Known {
    return thing === null ? {} : { name: thing.id.toString() };
  }
}

@FwAction
@HttpRoute('GET', '/g/{thingId}', { response: Known })
export class ThingGAction extends Action<ThingGActionParams, Thing | null | undefined> {
  
  protected perform(_principal: Principal, _params: ThingGActionParams): null {
    return null;
  }
}
