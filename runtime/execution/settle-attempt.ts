import type { ExecutionEnvironment } from '../concurrency/execution-environment.js';
import type { AttemptOutcome } from '../persistence/attempt-outcome.js';
import type { ShardStore } from '../persistence/shard-store.js';
import type { ActionRow } from '../persistence/write/plan-write.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import { attemptPauseMs } from './retry-policy.js';

/**
 * Settles an attempt whose reply was lost: fences it repeatedly until that succeeds or the deadline passes. A look-up
 * alone is not enough, because the server's process may still commit the attempt after it.
 *
 * @param deadline on the environment's monotonic clock
 */
export async function settleAttempt(
  store: Pick<ShardStore, 'fence'>,
  action: Omit<ActionRow, 'params'>,
  environment: ExecutionEnvironment,
  deadline: number,
): Promise<AttemptOutcome | 'unknown'> {
  for (let attempt = 1; ; attempt += 1) {
    const remainingMs = deadline - environment.nowMs();
    if (remainingMs <= 0) return 'unknown';
    try {
      return await store.fence(action, { timeoutMs: remainingMs });
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error;
    }
    const pauseMs = attemptPauseMs(attempt, environment.random());
    if (pauseMs >= deadline - environment.nowMs()) return 'unknown';
    await environment.sleep(pauseMs, undefined);
  }
}
