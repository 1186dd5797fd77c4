import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingAActionParams {
  readonly thingId: Id<Thing>;
}

export class Answer {
  readonly version!: number;
  readonly note?: string;

  static from(): Answer {
    return new Answer();
  }
}

@FwAction
@HttpRoute('POST', '/a', { response: Answer, etag: 'revision', location: '/a/{id}/{note}' })
export class ThingAAction extends Action<ThingAActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingAActionParams): void {
    throw new Error('not called');
  }
}
