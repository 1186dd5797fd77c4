import { DriverFailure } from '../driver-failure.js';
import type { Statement } from '../shard-database.js';

export function statement(text: string, values: readonly unknown[] = []): Statement {
  return { text, values };
}

/** The failure of a call. */
export async function failureOf(call: Promise<unknown>): Promise<DriverFailure> {
  const outcome = await call.then(
    () => new Error('The call succeeded'),
    (error: unknown) => error,
  );
  if (outcome instanceof DriverFailure) return outcome;
  throw outcome;
}
