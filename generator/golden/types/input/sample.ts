import {
  AutoBuilder,
  type Currency,
  type Decimal,
  type Id,
  type JsonValue,
  Model,
  ModelEvent,
  type ShardedId,
  type Uuid,
} from 'fw-actions';
import type {
  Address,
  Cents,
  Comment,
  Deep,
  ElementOf,
  Expression,
  Folder,
  Level,
  Mood,
  Not,
  Page,
  Pair,
  Parcel,
  Payment,
  Pesos,
  Phase,
  ROLES,
  Since,
  Sku,
  Solid,
  STATES,
  Tags,
} from './forms.js';

/** Each is a row of the table in docs/types.md. */
export interface Forms {
  readonly text: string;
  readonly yes: boolean;
  readonly size: number;
  readonly amount: Decimal;
  readonly when: Date;
  readonly large: bigint;
  readonly uuid: Uuid;
  readonly currency: Currency;
  readonly owner: ShardedId<Sample>;
  readonly place: Id<Place>;
  readonly maybe: string | null;
  readonly absent?: Sku | null;
  readonly status: (typeof STATES)[number];
  readonly role: keyof typeof ROLES;
  readonly roleName: keyof typeof ROLES & string;
  readonly roleLevel: (typeof ROLES)[keyof typeof ROLES]['level'];
  readonly mood: Mood;
  readonly phase: Phase;
  readonly level: Level;
  readonly dice: 1 | 2 | 3;
  readonly always: true;
  readonly mixed: 'auto' | 7 | false;
  readonly sku: Sku;
  readonly cents: Cents;
  readonly pesos: Pesos;
  readonly code: `${'a' | 'b'}-${1 | 2}`;
  readonly upper: Uppercase<'x' | 'y'>;
  readonly open: Exclude<(typeof STATES)[number], 'DONE'>;
  readonly card: Extract<Payment, { readonly kind: 'card' }>;
  readonly zip: NonNullable<Address['zip']>;
  readonly element: ElementOf<readonly ('p' | 'q')[]>;
  readonly names: readonly string[];
  readonly matrix: readonly (readonly number[])[];
  readonly dates: readonly (Date | null)[];
  readonly amounts: readonly Decimal[];
  readonly owners: readonly ShardedId<Sample>[];
  readonly pair: readonly [Decimal, Date];
  readonly trio: readonly [...Pair, bigint];
  readonly range: readonly [number, number?];
  readonly rest: readonly [Decimal, ...bigint[]];
  readonly address: Address;
  readonly imported: import('./forms.js').Address;
  readonly partial: Partial<Address>;
  readonly required: Required<Address>;
  readonly frozen: Readonly<Address>;
  readonly picked: Pick<Address, 'street'>;
  readonly omitted: Omit<Address, 'zip'>;
  readonly crossed: Address & { readonly floor: number };
  readonly both: { readonly of: { readonly x: string } } & { readonly of: { readonly y: number } };
  readonly parcel: Parcel;
  readonly page: Page<Decimal>;
  readonly tags: Tags;
  readonly deep: Deep<{ readonly a: { readonly b: string; readonly c?: number } }>;
  readonly solid: Solid<{ lines: { sku: string; at: Date }[] }>;
  readonly line: { readonly at: Date; readonly size: bigint; readonly by: Uuid; readonly in: Currency; readonly for: ShardedId<Sample> };
  readonly prices: Readonly<Record<string, Decimal>>;
  readonly quotas: Readonly<Record<'day' | 'month', bigint>>;
  readonly flags: { readonly [key: string]: boolean | null };
  readonly mapped: { readonly [K in 'from' | 'to']: Date };
  readonly payment: Payment;
  readonly noted: Payment & { readonly note: string };
  readonly payments: readonly (Payment | null)[];
  readonly either: string | number | readonly string[];
  readonly priced: Decimal | boolean | readonly Date[];
  readonly comment: Comment;
  readonly folder: Folder<Date>;
  readonly expression: Expression;
  readonly filter: Not | Since;
  readonly json: JsonValue;
  readonly anything: unknown;
}

/** Its ids carry no shard. */
@AutoBuilder
export class Place extends Model<Place, Id<Place>, 'NEW'> {}

@AutoBuilder
export class Sample extends Model<Sample, ShardedId<Sample>, 'NEW'> {
  readonly text!: Forms['text'];
  readonly yes!: Forms['yes'];
  readonly size!: Forms['size'];
  readonly amount!: Forms['amount'];
  readonly when!: Forms['when'];
  readonly large!: Forms['large'];
  readonly uuid!: Forms['uuid'];
  readonly currency!: Forms['currency'];
  readonly owner!: Forms['owner'];
  readonly place!: Forms['place'];
  readonly maybe!: Forms['maybe'];
  readonly absent?: Sku | null;
  readonly status!: Forms['status'];
  readonly role!: Forms['role'];
  readonly roleName!: Forms['roleName'];
  readonly roleLevel!: Forms['roleLevel'];
  readonly mood!: Forms['mood'];
  readonly phase!: Forms['phase'];
  readonly level!: Forms['level'];
  readonly dice!: Forms['dice'];
  readonly always!: Forms['always'];
  readonly mixed!: Forms['mixed'];
  readonly sku!: Forms['sku'];
  readonly cents!: Forms['cents'];
  readonly pesos!: Forms['pesos'];
  readonly code!: Forms['code'];
  readonly upper!: Forms['upper'];
  readonly open!: Forms['open'];
  readonly card!: Forms['card'];
  readonly zip!: Forms['zip'];
  readonly element!: Forms['element'];
  readonly names!: Forms['names'];
  readonly matrix!: Forms['matrix'];
  readonly dates!: Forms['dates'];
  readonly amounts!: Forms['amounts'];
  readonly owners!: Forms['owners'];
  readonly pair!: Forms['pair'];
  readonly trio!: Forms['trio'];
  readonly range!: Forms['range'];
  readonly rest!: Forms['rest'];
  readonly address!: Forms['address'];
  readonly imported!: Forms['imported'];
  readonly partial!: Forms['partial'];
  readonly required!: Forms['required'];
  readonly frozen!: Forms['frozen'];
  readonly picked!: Forms['picked'];
  readonly omitted!: Forms['omitted'];
  readonly crossed!: Forms['crossed'];
  readonly both!: Forms['both'];
  readonly parcel!: Forms['parcel'];
  readonly page!: Forms['page'];
  readonly tags!: Forms['tags'];
  readonly deep!: Forms['deep'];
  readonly solid!: Forms['solid'];
  readonly line!: Forms['line'];
  readonly prices!: Forms['prices'];
  readonly quotas!: Forms['quotas'];
  readonly flags!: Forms['flags'];
  readonly mapped!: Forms['mapped'];
  readonly payment!: Forms['payment'];
  readonly noted!: Forms['noted'];
  readonly payments!: Forms['payments'];
  readonly either!: Forms['either'];
  readonly priced!: Forms['priced'];
  readonly comment!: Forms['comment'];
  readonly folder!: Forms['folder'];
  readonly expression!: Forms['expression'];
  readonly filter!: Forms['filter'];
  readonly json!: Forms['json'];
  readonly anything!: Forms['anything'];
}

export class SampleTakenEvent extends ModelEvent<Sample> {
  readonly forms: Forms;

  constructor(sample: Sample) {
    super(sample.id.getValue(), Sample);
    this.forms = sample;
  }
}
