import { Action, type Clock, FwAction, HttpRoute, type Principal } from 'fw-actions';
import { Answer } from './answer.js';

export interface NewTouchParams {
  /** @label it's "quoted" `${label}` */
  readonly "a'b": string;
  readonly constructor?: never[] extends string ? never : string;
}

/** Says `${nothing}` and "ends" 'here'. */
@FwAction({ name: "new's `action`" })
@HttpRoute('POST', '/new/touch', {
  response: Answer,
  summary: "It's `${here}`",
  tag: '*/',
  example: { "a'b": 'x\u2029y', __proto__: null, nested: [1, -2.5, true, { 'k`': [] }] },
})
export class NewTouchAction extends Action<Omit2, Answer> {
  constructor(clock: Clock) {
    super(clock);
  }

  protected perform(_principal: Principal, params: Omit2): Answer {
    return new Answer(params["a'b"]);
  }
}

/** The plain form. */
export type Omit2 = {
  /** @label it's "quoted" `${label}` */
  readonly "a'b": string;
  readonly default?: string; /** @secret */ readonly pin?: string;
};
