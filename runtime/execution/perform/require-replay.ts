import { ruleOf } from '../../action/access-rule.js';
import { deadlines } from '../../concurrency/deadlines.js';
import { ForbiddenError } from '../../errors.js';
import { deadlineExceeded, isPassing } from '../execution-errors.js';
import type { ExecutionRequest } from '../execution-request.js';
import type { PerformRun } from './perform-run.js';

/**
 * Authorizes the replay of a stored result like the first call, by the models as they are now: `perform` runs once
 * more, and its plan is discarded. `perform` may fail because of the changes of the first call. Then the rule decides on
 * the models that were read until then.
 *
 * @param result the stored result; it must not name a group that the caller may no longer reach
 * @param newRun creates a run that reads committed states; called if the action has a rule
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
    if (error instanceof ForbiddenError || isPassing(error)) throw error;
    run.access?.requireAgain();
  }
}
