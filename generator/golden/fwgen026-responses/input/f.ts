import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingFActionParams {
  readonly thingId: Id<Thing>;
}

export class Found {
  readonly name!: string;

  static from(found: { readonly name: string }): Found {
    return found;
  }
}

@FwAction
@HttpRoute('GET', '/f/{thingId}', { response: Found })
export class ThingFAction extends Action<ThingFActionParams, { readonly name: string } | null | undefined> {
  
  protected perform(_principal: Principal, _params: ThingFActionParams): null {
    return null;
  }
}
