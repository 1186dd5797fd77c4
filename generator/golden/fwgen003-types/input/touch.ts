import { Action, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingTouchActionParams {
  readonly box: Box;
  readonly map: Map<string, string>;
  readonly accepted: true;
  readonly refused?: null | false;
  readonly either: true | 'maybe';
  readonly nested: { readonly yes: Yes };
  readonly whole: Yes | false | null;
  readonly redundant: boolean | Yes;
}

type Yes = true;

export class Box {
  readonly size!: number;
}

export class ThingResponse {
  readonly thing!: Thing;
  readonly day!: Temporal.PlainDate;
  readonly done!: true;

  static from(_result: void): ThingResponse {
    return new ThingResponse();
  }
}

@FwAction
@HttpRoute('POST', '/things', { response: ThingResponse })
export class ThingTouchAction extends Action<ThingTouchActionParams, void> {
  
  protected perform(_principal: Principal, _params: ThingTouchActionParams): void {
    throw new Error('not called');
  }
}
