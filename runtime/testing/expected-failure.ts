import { AssertionError } from 'node:assert';
import type { Performed } from './perform-once.js';
import { showItem } from './show.js';

/** An error class as a value; abstract ones included. */
export type ErrorClass<E extends Error> = abstract new (...args: never[]) => E;

/** How an attempt ended. */
export type Ending<Result> =
  | { readonly kind: 'performed'; readonly performed: Performed<Result> }
  | { readonly kind: 'failed'; readonly error: unknown };

/** The error that an attempt ended with. @throws AssertionError if it is not the expected one, or none at all */
export function failureOf<E extends Error>(
  ending: Ending<unknown>,
  errorClass: ErrorClass<E>,
  message: string | RegExp | undefined,
): E {
  const wanted = `Expected the action to fail with ${errorClass.name}`;
  if (ending.kind === 'performed') {
    const { items } = ending.performed;
    const staged = items.length === 0 ? 'nothing' : items.map(showItem).join(', ');
    throw mismatch(`${wanted}, but it succeeded and staged: ${staged}`, 'success', errorClass.name);
  }
  const { error } = ending;
  if (!(error instanceof errorClass)) {
    throw mismatch(`${wanted}, but it failed with ${String(error)}`, nameOf(error), errorClass.name, error);
  }
  if (message !== undefined && !matches(error.message, message)) {
    const said = `Expected ${errorClass.name} to say ${String(message)}, but it says ${error.message}`;
    throw mismatch(said, error.message, message, error);
  }
  return error;
}

function mismatch(message: string, actual: unknown, expected: unknown, cause?: unknown): AssertionError {
  const error = new AssertionError({ message, actual, expected });
  if (cause !== undefined) error.cause = cause;
  return error;
}

function matches(text: string, expected: string | RegExp): boolean {
  return typeof expected === 'string' ? text === expected : expected.test(text);
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
