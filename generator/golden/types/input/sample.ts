import {
  AutoBuilder,
  type Currency,
  type Decimal,
  type Id,
  type JsonValue,
  Model,
  ModelEvent,
  type Uuid,
} from 'fw-actions';
import type {
  Address,
  Cents,
  Comment,
  Deep,
  ElementOf,
  Level,
  Page,
  Parcel,
  Payment,
  ROLES,
  Sku,
  STATES,
} from './forms.js';

export interface Forms {
  readonly text: string;
  readonly amount: Decimal;
  readonly when: Date;
  readonly large: bigint;
  readonly status: (typeof STATES)[number];
  readonly role: keyof typeof ROLES;
  readonly roleLevel: (typeof ROLES)[keyof typeof ROLES]['level'];
  readonly level: Level;
  readonly dice: 1 | 2 | 3;
  readonly always: true;
  readonly mixed: 'auto' | 7 | false;
  readonly sku: Sku;
  readonly cents: Cents;
  readonly code: `${'a' | 'b'}-${1 | 2}`;
  readonly upper: Uppercase<'x' | 'y'>;
  readonly open: Exclude<(typeof STATES)[number], 'DONE'>;
  readonly element: ElementOf<readonly ('p' | 'q')[]>;
  readonly address: Partial<Address>;
  readonly parcel: Parcel;
  readonly page: Page<Decimal>;
  readonly deep: Deep<{ readonly a: { readonly b: string; readonly c?: number } }>;
  readonly payment: Payment;
  readonly payments: readonly (Payment | null)[];
  readonly either: string | number | readonly string[];
  readonly pair: readonly [Decimal, Date, ...bigint[]];
  readonly prices: Readonly<Record<string, Decimal>>;
  readonly flags: { readonly [key: string]: boolean | null };
  readonly comment: Comment;
  readonly owners: readonly Id<Sample>[];
  readonly line: { readonly at: Date; readonly size: bigint; readonly by: Uuid; readonly in: Currency };
  readonly anything: unknown;
  readonly json: JsonValue;
  readonly absent?: Sku | null;
}

@AutoBuilder
export class Sample extends Model<Sample, Id<Sample>, 'NEW'> {
  readonly text!: Forms['text'];
  readonly amount!: Forms['amount'];
  readonly when!: Forms['when'];
  readonly large!: Forms['large'];
  readonly status!: Forms['status'];
  readonly role!: Forms['role'];
  readonly roleLevel!: Forms['roleLevel'];
  readonly level!: Forms['level'];
  readonly dice!: Forms['dice'];
  readonly always!: Forms['always'];
  readonly mixed!: Forms['mixed'];
  readonly sku!: Forms['sku'];
  readonly cents!: Forms['cents'];
  readonly code!: Forms['code'];
  readonly upper!: Forms['upper'];
  readonly open!: Forms['open'];
  readonly element!: Forms['element'];
  readonly address!: Forms['address'];
  readonly parcel!: Forms['parcel'];
  readonly page!: Forms['page'];
  readonly deep!: Forms['deep'];
  readonly payment!: Forms['payment'];
  readonly payments!: Forms['payments'];
  readonly either!: Forms['either'];
  readonly pair!: Forms['pair'];
  readonly prices!: Forms['prices'];
  readonly flags!: Forms['flags'];
  readonly comment!: Forms['comment'];
  readonly owners!: Forms['owners'];
  readonly line!: Forms['line'];
  readonly anything!: Forms['anything'];
  readonly json!: Forms['json'];
  readonly absent?: Sku | null;
}

export class SampleTakenEvent extends ModelEvent<Sample> {
  readonly forms: Forms;

  constructor(sample: Sample) {
    super(sample.id.getValue(), Sample);
    this.forms = sample;
  }
}
