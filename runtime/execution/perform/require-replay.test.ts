import { describe, expect, test } from 'vitest';
import { AccessCheck } from '../../action/access-check.js';
import { type AccessRule, Allow, type Rule, visible } from '../../action/access-rule.js';
import type { Action } from '../../action/action.js';
import { Decimal } from '../../domain/decimal.js';
import { KnownPrincipal } from '../../domain/principal.js';
import { Account, newAccount } from '../../domain/test-support/account.js';
import { ForbiddenError, RefusedError, ShardUnavailableError, ValidationError } from '../../errors.js';
import type { ExecutionRequest } from '../execution-request.js';
import type { PerformRun } from './perform-run.js';
import { requireReplay } from './require-replay.js';

const ANA = new KnownPrincipal('ana', '{"role":"operator"}');
const FORMER = new KnownPrincipal('ana');
const RULE = ({ principal }: { readonly principal: KnownPrincipal }): boolean =>
  principal.claims['role'] === 'operator';

class Ruled {}
Allow(RULE as never)(Ruled as never);

/** Whether a replay is allowed if `perform` ends in the given way. */
async function replay(
  principal: KnownPrincipal,
  perform: (access: AccessCheck) => Promise<unknown>,
  rule: AccessRule<never> = RULE as never,
): Promise<'replayed'> {
  const access = new AccessCheck({
    ...{ actionName: 'Ruled', rule, principal, params: {}, items: () => [] },
  });
  // The fields of a request and a run that the function uses.
  const request = {
    ...{ action: { actionClass: Ruled }, principal, params: {}, deadline: Number.MAX_SAFE_INTEGER },
  } as unknown as ExecutionRequest<Action<unknown, unknown>, unknown>;
  await requireReplay(request, {}, () => ({ access, start: () => perform(access) }) as unknown as PerformRun);
  return 'replayed';
}

describe.each([
  ['returns', async () => ({})],
  ['throws what speaks of models', () => Promise.reject(new RefusedError('closed'))],
  ['throws before it has read anything', () => Promise.reject(new ValidationError('too late'))],
  ['fails', () => Promise.reject(new TypeError('a defect'))],
])('a replay whose perform %s', (_, perform) => {
  test('is allowed for a caller whom the rule admits', async () => {
    expect(await replay(ANA, perform)).toBe('replayed');
  });

  test('is refused to a caller whose claims were revoked', async () => {
    await expect(replay(FORMER, perform)).rejects.toThrow(ForbiddenError);
  });
});

test('a replay fails while a shard is unreachable', async () => {
  const away = new ShardUnavailableError('(0, 0)', 'a test');
  await expect(replay(ANA, () => Promise.reject(away))).rejects.toThrow(ShardUnavailableError);
});

describe('a replay whose perform fails, because of the first call, before it has seen the models of the rule', () => {
  const taken = (): Promise<never> => Promise.reject(new RefusedError('The seat is taken'));
  const owned = visible(Account, ({ claims }) => ({ nickname: claims['owner'] as string | undefined }));
  const own: Rule = ({ models }) => models(Account)[0]?.nickname === 'ana';
  const ownOrOperator: Rule = (access) => access.principal.claims['role'] === 'operator' && own(access);
  const OWNER = new KnownPrincipal('ana', '{"owner":"ana"}');
  const account = newAccount(new Decimal(1)).nickname('bob').updatedDate(new Date()).build();

  test.each([
    ['of `visible`', OWNER, owned],
    ['that asks for models', OWNER, own],
    ['that asks for models of an operator', ANA, ownOrOperator],
    [
      'that fails without a model',
      OWNER,
      (({ models }) => (models(Account)[0] as Account).nickname === 'ana') as Rule,
    ],
  ])('is allowed by a rule %s', async (_, principal, rule) => {
    expect(await replay(principal, taken, rule as AccessRule<never>)).toBe('replayed');
  });

  test.each([
    ['the caller may see no model any more', FORMER, owned],
    ['the claims alone refuse the caller', FORMER, ownOrOperator],
  ])('is refused if %s', async (_, principal, rule) => {
    await expect(replay(principal, taken, rule as AccessRule<never>)).rejects.toThrow(ForbiddenError);
  });

  test.each([
    ['of `visible`', owned],
    ['that asks for models', own],
  ])('is refused if a model was read that a rule %s hides', async (_, rule) => {
    const perform = (access: AccessCheck): Promise<never> => {
      access.see(account);
      return taken();
    };
    await expect(replay(OWNER, perform, rule as AccessRule<never>)).rejects.toThrow(ForbiddenError);
  });
});
