import {
  Action,
  AutoBuilder,
  type Clock,
  type Decimal,
  FwAction,
  HttpRoute,
  type Id,
  Model,
  ModelEvent,
  type Principal,
  ShardedId,
  ShardIdentifier,
} from 'fw-actions';
import { SaleBuilder } from './generated/sale.js';
import type Printer from './ports.js';
import type { Shop } from './ports.js';
import type * as tills from './ports.js';

export declare namespace Own {
  interface Lamp {
    readonly isLit: boolean;
  }
}

@AutoBuilder
export class Sale extends Model<Sale, ShardedId<Sale>, 'MADE'> {
  readonly price!: Decimal;
  /** @maxLength 5 */
  readonly title!: string;
}

/** Fields of events and responses may be parameters of the constructor. */
export abstract class Signed<S> extends ModelEvent<Sale> {
  constructor(
    id: Id<Sale>,
    readonly signature: S,
  ) {
    super(id.getValue(), Sale);
  }
}

export class SaleMade extends Signed<readonly string[]> {
  readonly channel: 'shop' | 'web' = 'web';

  constructor(
    sale: Sale,
    /** What was paid. */
    readonly price: Decimal,
    /** @numeric 30,9 */ readonly weight: Decimal,
    public note?: string,
    /** The tags of the model's field are its own. */ readonly title?: Sale['title'],
  ) {
    super(sale.id, ['ada']);
  }
}

export class SaleResponse {
  constructor(
    readonly id: ShardedId<Sale>,
    readonly price: Decimal,
    private readonly margin: Decimal,
  ) {}

  get total(): Decimal {
    return this.price.plus(this.margin);
  }

  static from(sale: Sale): SaleResponse {
    return new SaleResponse(sale.id, sale.price, sale.price);
  }
}

@FwAction
@HttpRoute('POST', '/sales', { status: 201, response: SaleResponse })
export class SaleMakeAction extends Action<{ readonly price: Decimal }, Sale> {
  constructor(
    clock: Clock,
    private readonly channel: string,
    printer: Printer,
    till: tills.Till,
    drawer: Shop.Drawer,
    own: Own.Lamp,
  ) {
    super(clock);
    void [printer, till, drawer, own];
  }

  protected perform(_principal: Principal, { price }: { readonly price: Decimal }): Sale {
    const sale = SaleBuilder.sale()
      .id(ShardedId.generate(Sale, ShardIdentifier.of(0, 0)))
      .state('MADE')
      .createdDate(this.clock.now())
      .withInitialVersion()
      .title('sale')
      .price(price);
    const made = sale.build();
    return this.plan().add(sale.withEvent(new SaleMade(made, price, price, this.channel)).build());
  }
}
