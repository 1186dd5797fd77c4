import { Action, Allow, everyone, FwAction, HttpRoute, type Principal } from 'fw-actions';
import type { Card, Owner, Pin } from '#shared/forms.js';
import type { Thing } from './thing.js';

export interface Page<T> {
  readonly of: T;
  readonly size?: number;
}

export interface ThingPayActionParams {
  readonly thingId: Thing['id'];
  /**
   * Its own tags take precedence.
   *
   * @maxLength 4
   */
  readonly pin: Pin;
  readonly again: Card['pin'];
  readonly card: Pick<Card, 'pin' | 'digits'>;
  readonly pins: readonly Pin[];
  readonly named: Readonly<Record<string, Pin>>;
  readonly pair: readonly [Pin, number];
  readonly owner: Omit<Owner, 'pin'>;
  readonly former?: Pick<ThingPayActionParams, 'former' | 'again'>;
}

@FwAction
@Allow(everyone)
@HttpRoute('POST', '/things/{thingId}/payments')
export class ThingPayAction extends Action<ThingPayActionParams, void> {
  protected perform(_principal: Principal, _params: ThingPayActionParams): void {
    throw new Error('not called');
  }
}

export interface By {
  readonly by?: 'name' | 'date';
}

export abstract class Listing<T, Result> extends Action<Page<T> & By, Result> {}

@FwAction
@Allow(everyone)
export class ThingListAction extends Listing<'new' | 'old', void> {
  protected perform(_principal: Principal, _params: Page<'new' | 'old'> & By): void {
    throw new Error('not called');
  }
}
