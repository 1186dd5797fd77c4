import { currency, Decimal, type JsonValue, ShardedId } from 'fw-actions';
import { type Cents, Level, Mood, type Pesos, type Sku } from '../../generator/golden/types/input/forms.js';
import type { Forms, Sample } from '../../generator/golden/types/input/sample.js';
import { idNamed } from '../../runtime/domain/id.js';

/** A value of one type, and its JSON form. */
export interface Example<T> {
  readonly json: JsonValue;
  readonly value: T;
}

/** Values for each row of the table in docs/types.md, which shows the first one. */
export type FormExamples = { readonly [Name in keyof Forms]-?: readonly Example<Forms[Name]>[] };

const UUID = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';
const ID = '01942f5e-7c00-7a3b-8000-5d0e9c6b1f27';
const WHEN = '2026-01-31T09:30:00.000Z';
const EARLY = '0001-01-01T00:00:00.000Z';
const LARGE = '9223372036854775807';
const id = ShardedId.named<Sample>('Sample', ID);
const when = new Date(WHEN);
const amount = new Decimal('1.5');
const MXN = currency('MXN');
const large = 2n ** 63n - 1n;

const example = <T>(json: JsonValue, value: T): Example<T> => ({ json, value });

/** Values that equal their JSON form. */
function same<const Values extends readonly JsonValue[]>(
  ...values: Values
): readonly Example<Values[number]>[] {
  return values.map((value) => ({ json: value, value }));
}

/** Keys of records are untrusted: names of inherited properties are ordinary keys. */
const ODD_KEYS: Readonly<Record<string, boolean | null>> = JSON.parse(
  '{ "constructor": false, "toString": null }',
);

export const FORM_EXAMPLES: FormExamples = {
  text: same('one', '', '\u2028 "quoted" \\ {} \u{1f600}'),
  yes: same(true, false),
  size: same(0.1, 0, -1e-7, Number.MAX_SAFE_INTEGER),
  amount: [
    example('1.5', amount),
    example('-999999999999999.9999', new Decimal('-999999999999999.9999')),
    example('0', new Decimal(0)),
  ],
  when: [example(WHEN, when), example(EARLY, new Date(EARLY))],
  large: [example(LARGE, large), example('-9223372036854775808', -(2n ** 63n))],
  uuid: same(UUID),
  currency: [example('MXN', MXN)],
  owner: [example(ID, id)],
  place: [example(UUID, idNamed('Place', UUID))],
  maybe: same(null, 'one'),
  absent: [example('ab', 'ab' as Sku), example(null, null)],
  status: same('OPEN', 'DONE'),
  role: same('admin', 'member'),
  roleName: same('admin', 'member'),
  roleLevel: same(1, 2),
  mood: [example('good', Mood.Good), example('bad', Mood.Bad)],
  phase: same('draft', 'live'),
  level: [example(5, Level.High), example(0, Level.Low)],
  dice: same(1, 2, 3),
  always: same(true),
  mixed: same('auto', 7, false),
  sku: [example('ab', 'ab' as Sku)],
  cents: [example(5, 5 as Cents)],
  pesos: [example('1.5', amount as Pesos)],
  code: same('a-1', 'b-2'),
  upper: same('X', 'Y'),
  open: same('OPEN'),
  card: [example({ kind: 'card', amount: '1.5', at: WHEN }, { kind: 'card', amount, at: when })],
  zip: same('06100'),
  element: same('p', 'q'),
  names: same(['one', 'two'], []),
  matrix: same([[1, 2], []]),
  dates: [example([WHEN, null], [when, null])],
  amounts: [example(['1.5', '-2'], [amount, new Decimal(-2)])],
  owners: [example([ID], [id])],
  pair: [example(['1.5', WHEN], [amount, when])],
  trio: [example(['1.5', WHEN, LARGE], [amount, when, large])],
  range: [example([1, 2], [1, 2]), example([1], [1])],
  rest: [example(['1.5', LARGE, '1'], [amount, large, 1n]), example(['1.5'], [amount])],
  address: same({ street: 'Reforma' }, { street: 'Reforma', zip: '06100' }),
  imported: same({ street: 'Reforma' }),
  partial: same({}, { zip: '06100' }),
  required: same({ street: 'Reforma', zip: '06100' }),
  frozen: same({ street: 'Reforma' }, { street: 'Reforma', zip: '06100' }),
  picked: same({ street: 'Reforma' }),
  omitted: same({ street: 'Reforma' }),
  crossed: same({ street: 'Reforma', floor: 2 }),
  both: same({ of: { x: 'one', y: 2 } }),
  parcel: same({ street: 'Reforma', items: ['book'], next: null, weight: 0.5, insured: true }),
  tags: [
    example(
      { tag: 'new', count: LARGE, span: { from: WHEN } },
      { tag: 'new', count: large, span: { from: when } },
    ),
  ],
  page: [example({ items: ['1.5'], next: 'two' }, { items: [amount], next: 'two' })],
  deep: same({ a: { b: 'one' } }, {}, { a: { c: 1 } }),
  solid: [example({ lines: [{ sku: 'ab', at: WHEN }] }, { lines: [{ sku: 'ab', at: when }] })],
  line: [
    example(
      { at: WHEN, size: LARGE, by: UUID, in: 'MXN', for: ID },
      { at: when, size: large, by: UUID, in: MXN, for: id },
    ),
  ],
  prices: [example({ MXN: '1.5' }, { MXN: amount }), example({}, {})],
  quotas: [example({ day: '1', month: LARGE }, { day: 1n, month: large })],
  flags: same({ new: true, 'two words': null }, ODD_KEYS),
  mapped: [example({ from: EARLY, to: WHEN }, { from: new Date(EARLY), to: when })],
  payment: [
    example({ kind: 'cash', cents: '5' }, { kind: 'cash', cents: 5n }),
    example({ kind: 'card', amount: '1.5', at: WHEN }, { kind: 'card', amount, at: when }),
  ],
  noted: [
    example({ kind: 'cash', cents: '5', note: 'one' }, { kind: 'cash', cents: 5n, note: 'one' }),
    example(
      { kind: 'card', amount: '1.5', at: WHEN, note: '' },
      { kind: 'card', amount, at: when, note: '' },
    ),
  ],
  payments: [example([{ kind: 'cash', cents: '5' }, null], [{ kind: 'cash', cents: 5n }, null])],
  either: same(7, 'one', ['one', 'two'], []),
  priced: [example('1.5', amount), example(true, true), example([WHEN], [when])],
  comment: same({ text: 'one', replies: [{ text: 'two', replies: [] }] }),
  folder: [
    example(
      { content: WHEN, folders: { old: { content: EARLY, folders: {} } } },
      { content: when, folders: { old: { content: new Date(EARLY), folders: {} } } },
    ),
  ],
  expression: [
    example(
      {
        op: 'sum',
        of: [
          { op: 'value', value: '1.5' },
          { op: 'sum', of: [] },
        ],
      },
      {
        op: 'sum',
        of: [
          { op: 'value', value: amount },
          { op: 'sum', of: [] },
        ],
      },
    ),
  ],
  filter: [
    example(
      { op: 'not', of: { op: 'not', of: { op: 'since', when: WHEN } } },
      { op: 'not', of: { op: 'not', of: { op: 'since', when } } },
    ),
    example({ op: 'since', when: WHEN }, { op: 'since', when }),
  ],
  json: same({ any: ['thing', 1, null] }, 'text', 0, [], false, null),
  anything: same({ any: ['thing', 1, null] }, 'text', 0, [], false, null),
};
