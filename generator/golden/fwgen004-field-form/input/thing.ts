import { AutoBuilder, type Id, Model } from 'fw-actions';

@AutoBuilder
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  private readonly hidden!: string;
  protected readonly covered!: string;
  open!: string;
  readonly preset: string = 'x';
  readonly untyped;
  readonly [COMPUTED]!: string;
  readonly #own = 1;
}

const COMPUTED: unique symbol = Symbol('computed');
