import { describe, expect, test } from 'vitest';
import { AccessCheck } from '../../action/access-check.js';
import { Allow } from '../../action/access-rule.js';
import type { Action } from '../../action/action.js';
import { KnownPrincipal } from '../../domain/principal.js';
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
async function replay(principal: KnownPrincipal, perform: () => Promise<unknown>): Promise<'replayed'> {
  const access = new AccessCheck({
    ...{ actionName: 'Ruled', rule: RULE as never, principal, params: {}, items: () => [] },
  });
  // The fields of a request and a run that the function uses.
  const request = {
    ...{ action: { actionClass: Ruled }, principal, params: {}, deadline: Number.MAX_SAFE_INTEGER },
  } as unknown as ExecutionRequest<Action<unknown, unknown>, unknown>;
  await requireReplay(request, {}, () => ({ access, start: perform }) as unknown as PerformRun);
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
