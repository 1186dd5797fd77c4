import { AssertionError } from 'node:assert';
import type { StagedItem } from '../action/action-plan.js';
import { showItem } from './show.js';

/** The expected failure of a run. */
export interface ExpectedFailure<E extends Error> {
  /** Subject of messages: `the action`. */
  readonly subject: string;
  /** Possibly abstract. */
  readonly errorClass: abstract new (
    ...args: never[]
  ) => E;
  /** The whole text, or a pattern. Undefined: any. */
  readonly message: string | RegExp | undefined;
}

/** Returns the error of a run. @throws AssertionError if it is not the expected one, or if the run succeeded */
export function failureOf<E extends Error>(
  ending: { readonly items: readonly StagedItem[] } | { readonly error: unknown },
  { subject, errorClass, message }: ExpectedFailure<E>,
): E {
  const wanted = `Expected ${subject} to fail with ${errorClass.name}`;
  if ('items' in ending) {
    const { items } = ending;
    const staged = items.length === 0 ? 'nothing' : items.map(showItem).join(', ');
    throw mismatch(`${wanted}, but it succeeded and staged: ${staged}`, 'success', errorClass.name);
  }
  const { error } = ending;
  if (!(error instanceof errorClass)) {
    const name = error instanceof Error ? error.name : typeof error;
    throw mismatch(`${wanted}, but it failed with ${String(error)}`, name, errorClass.name, error);
  }
  const isExpected = typeof message === 'string' ? error.message === message : message?.test(error.message);
  if (isExpected === false) {
    const said = `Expected ${errorClass.name} with the message ${String(message)}, but its message is ${error.message}`;
    throw mismatch(said, error.message, message, error);
  }
  return error;
}

function mismatch(message: string, actual: unknown, expected: unknown, cause?: unknown): AssertionError {
  const error = new AssertionError({ message, actual, expected });
  if (cause !== undefined) error.cause = cause;
  return error;
}
