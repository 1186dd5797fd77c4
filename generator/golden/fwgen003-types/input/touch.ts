import { Action, FwAction, HttpRoute, type Id, type Principal, type Uuid } from 'fw-actions';
import { Thing } from './thing.js';

export interface ThingTouchActionParams {
  readonly box: Box;
  readonly map: Map<string, string>;
  readonly maps: ReadonlyMap<string, readonly number[]>;
  readonly set: Set<'a' | 'b'>;
  readonly nestedSets: readonly { readonly inner: ReadonlySet<number> }[];
  readonly link: URL;
  readonly whatever: any;
  readonly thing: object;
  readonly mark: symbol;
  readonly sender: typeof send;
  readonly order: `order-${string}`;
  readonly alike: Date | Uuid;
  readonly shouted: Uppercase<string>;
  readonly keyed: Record<number, string>;
  readonly callable: { go(): void };
  readonly accepted: true;
  readonly refused?: null | false;
  readonly either: true | 'maybe';
  readonly nested: { readonly yes: Yes };
  readonly whole: Yes | false | null;
  readonly redundant: boolean | Yes;
  readonly empty: never;
  readonly numbered: { readonly [key: number]: string };
  readonly early: readonly [...string[], number];
  readonly holes: readonly (string | undefined)[];
  readonly computed: Computed;
  readonly lines: Omit<string, 'length'>;
  readonly remote: Id<string>;
}

enum Computed {
  Now = Date.now(),
}

type Yes = true;

export class Box {
  readonly size!: number;
  readonly label?: string;
  #hidden = '';

  get area(): number {
    return this.size * this.size + this.#hidden.length;
  }
}

export function send(): void {}

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
