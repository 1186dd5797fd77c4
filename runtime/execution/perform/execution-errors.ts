import { DeadlineExceededError, StaleModelError } from '../../errors.js';
import type { ExecutionRequest } from '../execution-request.js';

type Facts = Pick<ExecutionRequest<never, unknown>, 'timeoutMs'> & {
  readonly action: { readonly name: string };
};

export function deadlineExceeded({ action, timeoutMs }: Facts): DeadlineExceededError {
  return new DeadlineExceededError(
    `${action.name} did not finish within ${timeoutMs} ms; nothing was written`,
  );
}

export function staleError({ action }: Pick<Facts, 'action'>): StaleModelError {
  return new StaleModelError(action.name, 'the models that it read');
}
