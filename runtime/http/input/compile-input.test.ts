import { parse } from 'lossless-json';
import { describe, expect, it, test } from 'vitest';
import { Decimal } from '../../domain/decimal.js';
import type { FieldDescriptor } from '../../domain/descriptor.js';
import { namedFields, t } from '../../domain/field-types.js';
import { ShardedId } from '../../domain/id.js';
import { compileRules } from '../../domain/value-rules.js';
import { compileInput, type InputPlace } from './compile-input.js';

const VERSION_4 = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';
const WALLET_ID = '0190a000-0000-7000-8040-000000000001';

function check(
  fields: readonly FieldDescriptor[],
  json: string,
  place: InputPlace = 'body',
): { input: unknown; errors: unknown } {
  const input = parse(json) as object;
  const errors = compileInput(fields, place)(input);
  return { input, errors };
}

const amountFields = namedFields({ amount: t.decimal(19, 4) });

describe('amounts', () => {
  it.each([
    ['10.25', '10.25'],
    ['"10.25"', '10.25'],
    ['"10.2500"', '10.25'],
    ['10.2500000000', '10.25'],
    ['1e2', '100'],
    ['100e-2', '1'],
    ['-0', '0'],
    ['0e99999', '0'],
    ['-1', '-1'],
    ['999999999999999.9999', '999999999999999.9999'],
  ])('%s is read exactly', (json, expected) => {
    const { input, errors } = check(amountFields, `{"amount":${json}}`);
    expect(errors).toBeUndefined();
    const { amount } = input as { amount: Decimal };
    expect(amount).toBeInstanceOf(Decimal);
    expect(amount.toFixed()).toBe(expected);
  });

  it.each([
    '"1e9000000000000"',
    '"NaN"',
    '"0x10"',
    '"1_000"',
    '" 5"',
    '"+5"',
    '".5"',
    '"05"',
    '"\\u0665"',
    '""',
    'null',
    '[5]',
    '0.00005',
    '1000000000000000',
    `"${'9'.repeat(60_000)}"`,
  ])('%.30s is refused at its pointer', (json) => {
    const start = performance.now();
    const { errors } = check(amountFields, `{"amount":${json}}`);
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(errors).toEqual([{ pointer: '/amount', message: expect.stringMatching(/^amount /) }]);
  });

  it('says that an absent amount is required', () => {
    expect(check(amountFields, '{}').errors).toEqual([{ pointer: '/amount', message: 'amount is required' }]);
  });

  it('keeps bounds of the field', () => {
    const bounded = namedFields({ amount: t.decimal(9, 2, { exclusiveMinimum: 0, maximum: 10 }) });
    expect(check(bounded, '{"amount":0}').errors).toMatchObject([
      { message: 'amount must be greater than 0' },
    ]);
    expect(check(bounded, '{"amount":10.01}').errors).toMatchObject([
      { message: 'amount must be at most 10' },
    ]);
    expect(check(bounded, '{"amount":10}').errors).toBeUndefined();
  });
});

const everything = namedFields({
  text: t.string({ optional: true, maxLength: 4 }),
  count: t.number({ optional: true, integer: true, minimum: 1, maximum: 200 }),
  ratio: t.number({ optional: true }),
  big: t.bigint({ optional: true }),
  flag: t.boolean({ optional: true }),
  at: t.instant({ optional: true }),
  owner: t.uuid({ optional: true, label: 'ownerId' }),
  currency: t.currency({ optional: true }),
  wallet: t.shardedId('Wallet', { optional: true }),
  state: t.enum(['OPENED', 'CLOSED'], { optional: true }),
  meta: t.json({ optional: true }),
  note: t.string({ optional: true, nullable: true }),
  lines: t.list(t.object({ price: t.decimal(9, 2) }), { optional: true }),
  tags: t.list(t.uuid(), { optional: true, maxItems: 2 }),
});

describe('values', () => {
  it.each([
    ['text', '"a\\nb"', 'a\nb'],
    ['count', '5', 5],
    ['count', '1e2', 100],
    ['ratio', '0.30000000000000004', 0.30000000000000004],
    ['ratio', '-0', 0],
    ['big', '9223372036854775807', 9223372036854775807n],
    ['big', '"-9223372036854775808"', -9223372036854775808n],
    ['flag', 'false', false],
    ['at', '"2026-02-28T12:00:00.5+01:00"', new Date('2026-02-28T11:00:00.500Z')],
    ['owner', '"6F3F6D58-6A8E-4B1E-9D5B-0D7F2F9F4A10"', '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10'],
    ['currency', '"MXN"', 'MXN'],
    ['state', '"CLOSED"', 'CLOSED'],
    ['meta', '{"constructor":{"a":[1,2.5,null,"x"]}}', { constructor: { a: [1, 2.5, null, 'x'] } }],
    ['meta', '{"a":[1e21]}', { a: [1e21] }],
    ['ratio', '9007199254740992', 2 ** 53],
    ['ratio', '-123456789012345680000', -123_456_789_012_345_680_000],
    ['ratio', '1.50E+300', 1.5e300],
    ['ratio', '1797693134862315700.0e290', Number.MAX_VALUE],
    ['ratio', '5e-324', Number.MIN_VALUE],
    ['ratio', '0.000e400', 0],
    ['note', 'null', null],
    ['tags', '["6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10"]', ['6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10']],
  ])('%s %s is converted', (name, json, expected) => {
    const { input, errors } = check(everything, `{"${name}":${json}}`);
    expect(errors).toBeUndefined();
    expect(input).toEqual({ [name]: expected });
  });

  it('turns ids into ids, upper case included', () => {
    const { input } = check(everything, `{"wallet":"${WALLET_ID.toUpperCase()}"}`);
    const { wallet } = input as { wallet: ShardedId<unknown> };
    expect(wallet).toBeInstanceOf(ShardedId);
    expect(wallet.getValue()).toBe(WALLET_ID);
  });

  it.each([
    ['text', '5', 'text must be a string'],
    ['text', '"abcde"', 'text must have at most 4 characters'],
    ['tags', JSON.stringify(new Array(3).fill(WALLET_ID)), 'tags must have at most 2 items'],
    ['text', '"a\\u0000"', 'text must not contain NUL or half of a surrogate pair'],
    ['text', '"\\ud800"', 'text must not contain NUL or half of a surrogate pair'],
    ['count', '0', 'count must be at least 1'],
    ['count', '201', 'count must be at most 200'],
    ['count', '1.5', 'count must be an integer'],
    ['count', '"5"', 'count must be an integer'],
    ['count', '9007199254740992', 'count cannot be represented exactly'],
    ['ratio', '1e400', 'ratio cannot be represented exactly'],
    ['ratio', '9007199254740993', 'ratio cannot be represented exactly'],
    ['ratio', '0.1000000000000000055', 'ratio cannot be represented exactly'],
    ['ratio', '1e-400', 'ratio cannot be represented exactly'],
    ['big', '9223372036854775808', 'big must fit 64 bits'],
    ['flag', '"true"', 'flag must be true or false'],
    ['owner', 'null', 'ownerId cannot be null'],
    ['owner', '"{6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10}"', 'ownerId must be a UUID'],
    ['owner', '"6f3f6d586a8e4b1e9d5b0d7f2f9f4a10"', 'ownerId must be a UUID'],
    ['currency', '"usd"', 'currency must be an ISO 4217 currency code'],
    ['wallet', `"${VERSION_4}"`, 'wallet must be the id of a Wallet (a UUID of version 7)'],
    ['state', '"opened"', 'state must be one of OPENED, CLOSED'],
    ['meta', '{"a":[12345678901234567890]}', 'meta cannot be represented exactly'],
    ['meta', '{"\\u0000":1}', 'meta must not contain NUL or half of a surrogate pair'],
    ['lines', '{}', 'lines must be a JSON array'],
  ])('%s %s is refused: %s', (name, json, message) => {
    expect(check(everything, `{"${name}":${json}}`).errors).toEqual([{ pointer: `/${name}`, message }]);
  });

  it.each([
    ...'2026-02-29T00:00:00Z 2026-01-01T24:00:00Z 2026-01-01'.split(' '),
    ...'2026-01-01T00:00:00 2026-01-01T00:00:00+24:00 2026-01-01T00:00:00.0001Z'.split(' '),
    '2026-01-01 00:00:00Z',
  ])('the instant %s is refused', (text) => {
    expect(check(everything, `{"at":"${text}"}`).errors).toHaveLength(1);
  });

  it('points into lists and objects', () => {
    const { errors } = check(everything, '{"lines":[{"price":"1"},{"price":0.001},7]}');
    expect(errors).toEqual([
      { pointer: '/lines/1/price', message: 'price must have at most 2 decimals' },
      { pointer: '/lines/2', message: 'lines[] must be a JSON object' },
    ]);
  });

  it('collects everything that is wrong and names unknown fields', () => {
    const { errors } = check(amountFields, '{"amount":"x","balance":1,"a/b~":2}');
    expect(errors).toEqual([
      { pointer: '/balance', message: 'Unknown field "balance"' },
      { pointer: '/a~1b~0', message: 'Unknown field "a/b~"' },
      { pointer: '/amount', message: 'amount must be a decimal number like "10.25"' },
    ]);
  });

  it('does not mistake what objects inherit for fields', () => {
    const schema = namedFields({ constructor: t.string() });
    expect(check(schema, '{}').errors).toEqual([
      { pointer: '/constructor', message: 'constructor is required' },
    ]);
  });
});

describe('text sources', () => {
  const query = namedFields({
    limit: t.number({ integer: true, minimum: 1, maximum: 200, default: 50 }),
    open: t.boolean({ default: true }),
    above: t.decimal(19, 4, { default: '0' }),
  });

  it('reads numbers and booleans from text', () => {
    const { input, errors } = check(query, '{"limit":"10","open":"false","above":"1.5"}', 'query');
    expect(errors).toBeUndefined();
    expect(input).toEqual({ limit: 10, open: false, above: new Decimal('1.5') });
  });

  it('leaves defaults to the executor', () => {
    expect(check(query, '{}', 'query')).toEqual({ input: {}, errors: undefined });
  });

  it.each(['abc', '', '0', '201', '1.5', ' 5', '0x10', '１'])('refuses limit=%s', (text) => {
    const { errors } = check(query, JSON.stringify({ limit: text }), 'query');
    expect(errors).toEqual([
      { in: 'query', pointer: '/limit', message: expect.stringMatching(/^limit must/) },
    ]);
  });
});

test.each(['body', 'query', 'path'] as const)('a pattern sees no text of a %s that is too long', (place) => {
  const rules = { maxLength: 254, minLength: 3, pattern: '^([a-z]+)+@example$' };
  const validate = compileInput([{ name: 'email', type: { kind: 'string' }, rules }], place);
  // The pattern takes exponential time for this text.
  const where = place === 'body' ? {} : { in: place };
  expect(validate({ email: `${'a'.repeat(60_000)}!` })).toEqual([
    { ...where, pointer: '/email', message: 'email must have at most 254 characters' },
  ]);
  expect(validate({ email: '\u{1f600}'.repeat(254) })?.[0]?.message).toContain('must match pattern');
  expect(validate({ email: '\u{1f600}'.repeat(255) })?.[0]?.message).toContain('at most 254');
  expect(validate({ email: '\u{1f600}'.repeat(2) })?.[0]?.message).toContain('at least 3');
});

test('a pattern of a model never sees a text that is too long', () => {
  const broken = compileRules({ maxLength: 254, pattern: '^([a-z]+)+@example$' });
  expect(broken(`${'a'.repeat(60_000)}!`)).toBe('must have at most 254 characters');
});
