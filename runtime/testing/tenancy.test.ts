import { describe, expect, test } from 'vitest';
import { claimedGroup, groupsByClaim } from '../action/tenancy.js';
import { Decimal } from '../domain/decimal.js';
import type { Claims } from '../domain/principal.js';
import { newAccount } from '../domain/test-support/account.js';
import { ForbiddenError, UnknownShardError } from '../errors.js';
import {
  accountApplication,
  CreditAction,
  HERE,
  OpenAction,
  THERE,
} from '../execution/test-support/accounts.js';
import { actionSpec } from './action-spec.js';
import { applicationSpecs } from './application-specs.js';
import { MemoryDatabases } from './memory-databases.js';

const topology = { shards: [HERE, THERE], groups: { here: 0, there: 1 } };
const tenancy = groupsByClaim('region', ({ name }) => name === 'operator');
const specs = applicationSpecs(accountApplication, { ...topology, tenancy });
const ana = { name: 'ana', claims: { region: 'here' } as Claims };
const five = new Decimal(5);
const [own, foreign] = [HERE, THERE].map((shard) => newAccount(new Decimal(1), shard).build());
if (own === undefined || foreign === undefined) throw new TypeError('Two were made');

describe('a specification with tenants', () => {
  const credit = specs.action(CreditAction).given(own, foreign);

  test('lets a caller reach only the groups of its claims, as the server does', async () => {
    const params = { account: own.id.getValue(), amount: five };
    await credit
      .as(ana)
      .when(params)
      .thenUpdated(own.constructor as never, { version: 2 });
    const elsewhere = { account: foreign.id.getValue(), amount: five };
    await credit.as(ana).when(elsewhere).thenFails(ForbiddenError, 'ana may not reach group 1');
    await credit.as({ name: 'ana' }).when(params).thenFails(ForbiddenError);
    await credit.as({ name: 'operator' }).when(elsewhere).thenTouches(THERE);
  });

  test('refuses plans that reach other groups', async () => {
    const open = specs.action(OpenAction).as(ana);
    await open.when({ shard: HERE, balance: five }).thenTouches(HERE);
    await open.when({ shard: THERE, balance: five }).thenFails(ForbiddenError, 'ana may not reach group 1');
  });

  test('refuses ids in params before perform runs', async () => {
    let performed = 0;
    class TouchAction extends OpenAction {
      protected override perform(): never {
        performed += 1;
        throw new TypeError('unreachable');
      }
    }
    const touch = actionSpec({ ...topology, tenancy, create: (kit) => new TouchAction(kit.clock) });
    const params = { shard: HERE, balance: five, ids: [{ id: foreign.id }] };
    await touch.as(ana).when(params).thenFails(ForbiddenError);
    expect(performed).toBe(0);
  });
});

test('a claim chooses the group of a new model, by its name', async () => {
  const placement = new MemoryDatabases(topology).placement();
  const groupOf = (claims: object): string =>
    claimedGroup({ name: 'ana', claims: claims as Claims }, 'region', placement);
  const choose = (claims: object) => placement.choose(groupOf(claims), { kind: 'weighted' });
  expect(await choose({ region: 'there' })).toBe(THERE);
  expect(await choose({ region: ['here'] })).toBe(HERE);
  for (const claims of [{}, { region: [] }, { region: ['here', 'there'] }, { region: 1 }])
    expect(() => groupOf(claims)).toThrow(ForbiddenError);
  for (const region of ['nowhere', 'HERE', 'here '])
    expect(() => groupOf({ region })).toThrow(ForbiddenError);
  // A name of the application's own.
  await expect(placement.choose('nowhere', { kind: 'weighted' })).rejects.toThrow(UnknownShardError);
});
