import { AutoBuilder, Model, type ShardedId } from 'fw-actions';
import { InvoiceBuilder } from './generated/invoice.js';

@AutoBuilder
export class Usage extends Model<Usage, ShardedId<Usage>, 'OPEN' | 'BILLED'> {
  readonly units!: number;
}

@AutoBuilder
export class Invoice extends Model<Invoice, ShardedId<Invoice>, 'OPEN'> {
  readonly usageId!: ShardedId<Usage>;
  readonly units!: number;

  static of(usageId: ShardedId<Usage>, units: number): Invoice {
    return InvoiceBuilder.anInvoice().usageId(usageId).units(units).state('OPEN').build();
  }

  withUnits(units: number): Invoice {
    return InvoiceBuilder.copyOf(this).units(units).build();
  }
}
