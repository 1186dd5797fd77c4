import { ruleOf } from '../../action/access-rule.js';
import { deadlines } from '../../concurrency/deadlines.js';
import { ForbiddenError } from '../../errors.js';
import type { ExecutionRequest } from '../execution-request.js';
import { isPassing } from '../passing-errors.js';
import { deadlineExceeded } from './execution-errors.js';
import type { PerformRun } from './perform-run.js';

/**
 * Authorizes the replay of a stored result like the first call, by the models as they are now: `perform` runs once
 * more, and what it stages is dropped. It may be refused by what the first call has changed, which says nothing about
 * the caller.
 *
 * @param result what is to be replayed: it must not name a group that the caller may no longer reach
 * @param newRun makes a run that reads what is committed; called if the action has a rule
 * @throws ForbiddenError if the rule refuses the caller
 */
export async function requireReplay<Params, Result>(
  request: ExecutionRequest<Params, Result>,
  result: unknown,
  newRun: () => PerformRun,
): Promise<void> {
  const { action, principal, params, deadline, reach } = request;
  reach?.requireIds(result);
  if (principal.isOwn || ruleOf(action.actionClass) === undefined) return;
  const run = newRun();
  try {
    const work = Promise.resolve(run.start(action, principal, params));
    await deadlines.race(work, deadline, () => deadlineExceeded(request));
    run.access?.require();
  } catch (error) {
    const shown = run.access?.shown(error);
    if (shown instanceof ForbiddenError || isPassing(error)) throw shown;
    // An error that says nothing about models has not been held against the rule.
    run.access?.require();
  }
}
