import { EventEmitter } from 'node:events';
import { Action, FwAction, HttpRoute, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingMakeActionParams {
  readonly title: string;
}

export class ThingResponse {
  readonly title!: string;
  readonly [key: string]: unknown;

  static async from(thing: Thing): Promise<ThingResponse> {
    return Object.assign(new ThingResponse(), thing);
  }
}

export interface ThingResponse {
  readonly added: string;
}

@FwAction
@HttpRoute('POST', '/things', { response: ThingResponse })
export class ThingMakeAction extends Action<ThingMakeActionParams, Thing> {
  protected perform(_principal: Principal): Thing {
    throw new Error('not called');
  }
}

export class LaterResponse extends EventEmitter {
  readonly title!: string;
  static readonly from = (thing: Thing): Promise<LaterResponse> => Promise.resolve(Object.assign(new LaterResponse(), thing));
}

@FwAction
@HttpRoute('POST', '/things/later', { response: LaterResponse })
export class ThingLaterAction extends Action<void, Thing> {
  protected perform(_principal: Principal): Thing {
    throw new Error('not called');
  }
}
