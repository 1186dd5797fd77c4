import { Action, AutoBuilder, type Clock, FwAction, Model, ModelEvent, type ShardedId } from 'fw-actions';
import type { Money } from '@acme/money';
import type { Town } from '#models/town.js';
import type { Country as Land } from '#models/address.js';
import type { Gone } from './gone.js';
import type { Street } from './models/address.js';

@AutoBuilder
export class Thing extends Model<Thing, ShardedId<Thing>, 'OPEN'> {
  readonly undeclared!: Contry;
  readonly unimported!: Country;
  readonly inList!: readonly Country[];
  readonly similar!: Streat;
  readonly notExported!: Street;
  /**
   * @minLength 1
   * @minimum 5
   */
  readonly noFile!: Gone;
  readonly alias!: Town;
  readonly knownAlias!: Land;
  readonly idOfNothing!: ShardedId<Thingy>;
  readonly ofPackage!: Money;
  readonly known!: Partial<Record<'a' | 'b', string>>;
}

@AutoBuilder
export class Other extends Modell<Other, ShardedId<Other>, 'OPEN'> {}

export class ThingMade extends ModelEvent<Gone> {}

@FwAction
export class TouchAction extends Action<void, void> {
  constructor(clock: Clock, gone: Gone, letters: Letters) {
    super(clock);
    console.log(gone, letters);
  }

  protected perform(): void {}
}
