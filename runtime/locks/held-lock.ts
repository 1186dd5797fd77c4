import { HeldLease } from '../concurrency/held-lease.js';
import type { Release } from '../concurrency/keyed-mutex.js';
import { time } from '../concurrency/time.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { LockLostError, ValidationError } from '../errors.js';
import { callShard } from '../sharding/public-error.js';
import type { LockHandle } from './lock-handle.js';
import type { LockClaim, LockStore } from './lock-store.js';

export interface HeldLockOptions {
  readonly shard: ShardIdentifier;
  readonly claim: LockClaim;
  readonly token: bigint;
  readonly store: LockStore;
  /** `time.nowMs()` before the lock was requested. */
  readonly askedMs: number;
  /** Hold time, and the default of `extend`, in milliseconds. */
  readonly holdMs: number;
  /** Lets the next waiter of this process query the database. */
  readonly leaveQueue: Release;
}

/** A lock of this process, from its acquisition to its release or loss. */
export function holdLock(options: HeldLockOptions): LockHandle {
  const { shard, claim, token, store, askedMs, holdMs: initialMs, leaveQueue } = options;
  const { name } = claim;
  const ended = new AbortController();
  let isReleased = false;
  const lease = new HeldLease(claim, askedMs, initialMs, () => {
    ended.abort(new LockLostError(name));
    leaveQueue();
  });

  /** @throws LockLostError if the lock is lost, or the query finds it lost */
  async function requireHeld(ask: () => Promise<boolean>): Promise<void> {
    if (lease.valid && (await callShard(shard, ask))) return;
    if (lease.valid) lease.lost();
    throw new LockLostError(name);
  }

  return {
    shard,
    name,
    token,
    signal: ended.signal,
    verify: () => requireHeld(() => store.verify(name, token)),
    extend: async (holdMs = initialMs) => {
      const wholeMs = wholeHoldMs(holdMs);
      const sentMs = time.nowMs();
      await requireHeld(() => store.extend(claim, wholeMs));
      if (lease.valid) lease.set(sentMs + wholeMs);
    },
    release: async () => {
      if (isReleased) return;
      isReleased = true;
      lease.released();
      try {
        // Also after it was lost: if the reply to an extension was lost, the server still holds it.
        await store.release(claim);
      } catch {
        // The database releases the lock when its hold time expires.
      }
      leaveQueue();
    },
  };
}

/** A day: a longer hold is a state of the application and belongs into a model. */
const LONGEST_HOLD_MS = 24 * 60 * 60 * 1_000;

/** A hold time in whole milliseconds, as the database stores it. @throws ValidationError */
export function wholeHoldMs(holdMs: number): number {
  requireRange('holdMs', holdMs, 1);
  return Math.ceil(holdMs);
}

export function requireRange(field: string, value: number, least: number): void {
  if (value >= least && value <= LONGEST_HOLD_MS) return;
  throw new ValidationError(`${field} must be ${least} to ${LONGEST_HOLD_MS} milliseconds, got ${value}`, {
    field,
  });
}
