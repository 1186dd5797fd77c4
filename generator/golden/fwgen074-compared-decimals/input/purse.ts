import { AutoBuilder, type Decimal, type Id, Model } from 'fw-actions';
import { PurseBuilder } from './generated/purse.js';

@AutoBuilder
export class Purse extends Model<Purse, Id<Purse>, 'OPEN'> {
  readonly balance!: Decimal;
  readonly visits!: number;

  withdraw(amount: Decimal): Purse {
    if (this.balance < amount) throw new Error('Too little');
    if (amount >= this.balance.times(2)) throw new Error('Too much');
    return PurseBuilder.copyOf(this).balance(this.balance.minus(amount)).build();
  }

  /** Compares numbers. */
  isFrequent(visits: number): boolean {
    return this.visits > visits && this.balance.lessThan(5);
  }
}
