import { describe, expect, it } from 'vitest';
import { uuid7 } from '../../domain/id-source.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import type { FlushRequest, ShardStore } from '../shard-store.js';
import type { PlanWrite } from './plan-write.js';
import { ShardWriter } from './shard-writer.js';
import { DEFAULT_WRITER_LIMITS } from './writer-limits.js';

const SHARD = ShardIdentifier.of(0, 0);
const unused = (): never => {
  throw new Error('Not part of this test');
};

/** A store on which every plan meets a locked row; it notes how each statement would treat that. */
class LockedStore implements ShardStore {
  readonly statements: FlushRequest['locked'][] = [];
  readonly read = unused;
  readonly readByKey = unused;
  readonly fence = unused;
  readonly readAttempt = unused;
  readonly readKey = unused;
  readonly claimKey = unused;
  readonly releaseKey = unused;
  readonly purgeKeys = unused;

  flush({ groups, locked }: FlushRequest): Promise<readonly 'left-out'[]> {
    this.statements.push(locked);
    return Promise.resolve(groups.map(() => 'left-out'));
  }
}

function plan(): PlanWrite {
  const now = new Date();
  const action = {
    id: uuid7.next(SHARD.bits),
    name: 'Some',
    principal: 'me',
    startedDate: now,
    completedDate: now,
  };
  return {
    action: { ...action, params: undefined },
    items: [],
    traceContext: undefined,
    key: undefined,
  };
}

describe('A plan that was left out', () => {
  it.each([
    [5_000, ['skip', 'wait']],
    [DEFAULT_WRITER_LIMITS.lockWaitMs, ['skip', 'refuse']],
  ])('with %i ms left waits for a lock only if it can hear how that ends', async (timeoutMs, statements) => {
    const store = new LockedStore();
    const { outcome } = new ShardWriter(store, SHARD).submit(plan(), { timeoutMs });
    expect(await outcome).toEqual({ kind: 'stale' });
    expect(store.statements).toEqual(statements);
  });
});
