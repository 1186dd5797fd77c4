import { AutoBuilder, type Decimal, type Id, Model } from 'fw-actions';
import type { Card, Left, Level, PRICES, Pin, postal, quote, Right, Short, State, Tree } from '#shared/forms.js';
import type { basket } from '#shared/forms.js';
import type { Infer } from '#shared/schema.js';

type Events = 'thing.made' | 'thing.sold';
type Handler = `on${Capitalize<Events extends `thing.${infer Name}` ? Name : never>}`;

/** Each type is asked of the compiler. */
@AutoBuilder
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  readonly basket!: Infer<typeof basket>;
  readonly handler!: Handler;
  readonly place!: postal.Place;
  readonly pin!: Pin;
  readonly pins!: readonly Pin[];
  readonly cardPin!: Card['pin'];
  readonly cards!: Pick<Card, 'pin' | 'digits'>;
  readonly short!: Short | null;
  readonly level!: Level;
  readonly lower!: Level.Low;
  readonly state2!: State;
  readonly either!: (Left | null) & (Right | null);
  readonly tree!: Tree<Decimal>;
  readonly prices!: typeof PRICES;
  readonly quote!: ReturnType<typeof quote>;
  readonly keyed!: Record<string, Partial<Card>>;
  readonly first!: Parameters<typeof quote>[0];
  readonly former?: Pick<Thing, 'former' | 'pin'>;
}
