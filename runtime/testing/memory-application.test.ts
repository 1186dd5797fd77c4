import { expect, test } from 'vitest';
import { Allow, type Rule } from '../action/access-rule.js';
import type { ActionDescriptor } from '../action/action-descriptor.js';
import { ExecutionConfiguration } from '../action/execution-configuration.js';
import { groupsByClaim } from '../action/tenancy.js';
import { Decimal } from '../domain/decimal.js';
import type { Claims } from '../domain/principal.js';
import { newAccount } from '../domain/test-support/account.js';
import { ForbiddenError } from '../errors.js';
import type { ActionExecutor } from '../execution/action-executor.js';
import {
  AccountRepository,
  accountApplication,
  CreditAction,
  HERE,
  OpenAction,
} from '../execution/test-support/accounts.js';
import { memoryApplication, type SpecKit } from './memory-application.js';
import { VirtualClock } from './virtual-clock.js';

const bankers: Rule = ({ principal }) => principal.claims['role' as keyof Claims] === 'banker';

class GuardedCreditAction extends CreditAction {}
Allow(bankers)(GuardedCreditAction);

const KEYED = ExecutionConfiguration.Builder.executionConfiguration().idempotencyKey('k').build();
const account = newAccount(new Decimal(100), HERE).build();
const credit = { account: account.id.getValue(), amount: new Decimal(1) };

function executor(): ActionExecutor {
  const guarded = ({ clock, repositories }: SpecKit) => ({
    ...{ name: 'GuardedCredit', actionClass: GuardedCreditAction },
    params: [
      { name: 'account', type: { kind: 'uuid' } },
      { name: 'amount', type: { kind: 'decimal', precision: 19, scale: 4 } },
    ],
    result: { kind: 'model', model: 'Account' },
    create: () => new GuardedCreditAction(clock, new AccountRepository(repositories)),
  });
  const application = {
    definition: accountApplication,
    groups: { here: 0 },
    tenancy: groupsByClaim('region'),
    sagas: [],
    wire: (kit: SpecKit) => [
      ...accountApplication.wire(kit, {}),
      guarded(kit) as unknown as ActionDescriptor,
    ],
    wireHandlers: () => [],
  };
  return memoryApplication(application, { clock: new VirtualClock(), models: [account] }).executor;
}

const ana = (claims: object) => ({ name: 'ana', claims: claims as Claims });

test('a replay is authorized like the first call, by the caller’s current claims', async () => {
  const bank = executor();
  const run = (claims: object) => bank.execute(ana(claims), GuardedCreditAction, credit, KEYED);
  const first = await run({ role: 'banker', region: 'here' });
  expect((await run({ role: 'banker', region: 'here' })).version).toBe(first.version);
  await expect(run({ role: 'clerk', region: 'here' })).rejects.toThrow(ForbiddenError);
});

test('a replay returns no model of a group that the caller may no longer reach', async () => {
  const bank = executor();
  const open = (claims: object) =>
    bank.execute(ana(claims), OpenAction, { shard: HERE, balance: new Decimal(1) }, KEYED);
  const first = await open({ region: 'here' });
  expect((await open({ region: 'here' })).id).toEqual(first.id);
  await expect(open({ region: 'elsewhere' })).rejects.toThrow('ana may not reach group 0');
});
