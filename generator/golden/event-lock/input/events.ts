import { type Currency, type Decimal, type Id, type JsonValue, ModelEvent, type Uuid } from 'fw-actions';
import type { ThingSoldUpcasters } from './generated/versions.js';
import { Thing } from './thing.js';

/** Has a field more than the lock knows. */
export class ThingMade extends ModelEvent<Thing> {
  readonly title: string;
  readonly note?: string;

  constructor(id: Id<Thing>, title: string) {
    super(id.getValue(), Thing);
    this.title = title;
  }
}

/**
 * Both branches of a merge made a second version of it.
 * @version 2
 */
export class ThingSold extends ModelEvent<Thing> {
  static readonly upcasters: ThingSoldUpcasters = [({ cost }) => ({ price: cost })];

  readonly price!: Decimal;
  readonly agent?: string;
  readonly place?: string;
}

/** One field of each type. */
export class ThingSeen extends ModelEvent<Thing> {
  readonly text!: string;
  readonly amount!: number;
  readonly big!: bigint;
  readonly flag!: boolean;
  readonly at!: Date;
  readonly money!: Decimal;
  readonly key!: Uuid;
  readonly currency!: Currency;
  readonly other!: Id<Thing>;
  readonly colour!: 'RED' | 'BLUE' | null;
  readonly list!: readonly string[] | null;
  readonly inner!: { readonly a: number; readonly b?: JsonValue };
}
