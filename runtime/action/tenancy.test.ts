import { expect, test } from 'vitest';
import { Decimal } from '../domain/decimal.js';
import { ShardedId } from '../domain/id.js';
import type { Claims } from '../domain/principal.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { newAccount } from '../domain/test-support/account.js';
import { ForbiddenError } from '../errors.js';
import { groupsByClaim, Reach } from './tenancy.js';

const HERE = ShardIdentifier.of(1, 3);
const ABROAD = ShardIdentifier.of(2, 3);
const named = (shard: ShardIdentifier): object =>
  ShardedId.generate({ name: 'Account', prototype: {} }, shard);
const reach = new Reach({ name: 'ana', claims: {} }, new Set([1]));

test.each([
  ['an id', named(ABROAD)],
  ['a field', { id: named(ABROAD) }],
  ['a list in an object in a list', [{ ids: [named(HERE), named(ABROAD)] }]],
  ['an object without a prototype', Object.assign(Object.create(null), { id: named(ABROAD) })],
  ['a model', { account: newAccount(new Decimal(1), ABROAD).build() }],
])('an id of another group is found in %s', (_, value) => {
  expect(() => reach.requireIds(value)).toThrow(ForbiddenError);
});

test('ids of its own group, and values that are not ids, pass', () => {
  reach.requireIds({
    id: named(HERE),
    list: [1, 'x', null, undefined, new Date()],
    account: newAccount(new Decimal(1), HERE).build(),
  });
  reach.requireIds(undefined);
  expect(reach.allows(ShardIdentifier.of(1, 0))).toBe(true);
});

test.each([
  [{}, []],
  [{ region: 'mexico' }, ['mexico']],
  [{ region: ['global', 5, 'mexico'] }, ['global', 'mexico']],
  [{ region: { all: true } }, []],
  [{ region: 'all' }, ['all']],
  [{ role: 'operator' } as const, 'all'],
])('the claims %j reach %j', (claims, groups) => {
  const tenancy = groupsByClaim('region', ({ claims: { role } }) => role === 'operator');
  expect(tenancy({ name: 'ana', claims: claims as Claims })).toEqual(groups);
});
