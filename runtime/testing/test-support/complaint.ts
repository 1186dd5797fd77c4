import { AssertionError } from 'node:assert';
import { expect } from 'vitest';

/** The error of a check that must fail. */
export async function complaint(outcome: PromiseLike<unknown>): Promise<AssertionError> {
  try {
    await outcome;
  } catch (error) {
    if (error instanceof AssertionError) return error;
    throw error;
  }
  return expect.fail('the check held');
}
