import { DriverFailure } from '../sharding/driver-failure.js';
import { sqlStateMeaning } from '../sharding/sql-state.js';

/** Whether no plan is guilty, so that sending fewer of them would not help. */
export function isAboutTheServer(error: unknown): error is DriverFailure {
  if (!(error instanceof DriverFailure)) return false;
  const { phase, sqlState } = error;
  if (phase !== 'answered' || sqlState === undefined) return phase !== 'answered';
  const meaning = sqlStateMeaning(sqlState);
  return meaning === 'unavailable' || meaning === 'saturated';
}

/** Whether a row was locked for too long: every plan that touches it has the same trouble. */
export function isAboutLocks(error: unknown): boolean {
  return (
    error instanceof DriverFailure &&
    error.sqlState !== undefined &&
    sqlStateMeaning(error.sqlState) === 'locked'
  );
}
