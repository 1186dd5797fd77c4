import { DriverFailure } from '../driver-failure.js';
import type { ShardDatabase, Statement } from '../shard-database.js';

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

/** Works while the transaction of another session has executed this, such as a lock. */
export async function whileHeld(
  database: ShardDatabase,
  text: string,
  work: () => Promise<unknown>,
): Promise<void> {
  const session = await database.acquire();
  try {
    await session.script(`begin; ${text}`);
    await work();
  } finally {
    await session.script('rollback');
    session.release();
  }
}
