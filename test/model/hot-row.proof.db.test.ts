import { expect, test } from 'vitest';
import type { DatabaseRegistry } from '../../runtime/sharding/database-registry.js';
import { describeOn } from '../databases/vitest.js';
import { dumpShard } from './database-dump.js';
import { fightOverOneRow, type Progress } from './hot-row.js';
import { migrations } from './models.js';
import { SHARDS } from './run-model.js';

const [shard] = SHARDS;
/** The errors that an execution may have after too many conflicts. */
const PATIENCE = ['FW_STALE_MODEL', 'FW_ROW_BUSY', 'FW_DEADLINE_EXCEEDED', 'FW_COMMIT_OUTCOME_UNKNOWN'];

function failuresOf({ failed }: Progress): number {
  return [...failed.values()].reduce((sum, count) => sum + count, 0);
}

describeOn('postgresql', 'executors that fight over one row', (harness) => {
  /** As many processes have, until the end of the test. */
  async function openRegistries(count: number): Promise<readonly DatabaseRegistry[]> {
    const topology = await harness.makeTopology({ shards: SHARDS, migrations });
    return Array.from({ length: count }, () => harness.open(topology));
  }

  test('in one process run once each, because each starts from the previous one’s staged state', async () => {
    const databases = await openRegistries(1);
    const [progress] = await fightOverOneRow({ databases, concurrency: 32, durationMs: 1_000 });
    expect(progress?.applied).toBeGreaterThan(0);
    expect([...(progress?.ends.keys() ?? [])]).toEqual(['applied']);
  });

  test('in two processes both make progress, and lose no update', { timeout: 30_000 }, async () => {
    const registries = await openRegistries(2);
    const peers = await fightOverOneRow({ databases: registries, concurrency: 16, durationMs: 2_000 });
    const codes = peers.flatMap(({ failed }) => [...failed.keys()]);
    expect(codes.filter((code) => !PATIENCE.includes(code))).toEqual([]);
    for (const { applied } of peers) expect(applied).toBeGreaterThan(0);
    const applied = peers.reduce((sum, peer) => sum + peer.applied, 0);
    const unknown = peers.reduce(
      (sum, { failed }) => sum + (failed.get('FW_COMMIT_OUTCOME_UNKNOWN') ?? 0),
      0,
    );
    const [first] = registries;
    const dump = first === undefined || shard === undefined ? undefined : await dumpShard(first, shard);
    const updates = (dump?.rows[0]?.state.version ?? 0) - 1;
    expect(updates).toBeGreaterThanOrEqual(applied);
    expect(updates).toBeLessThanOrEqual(applied + unknown);
  });

  test('without chaining take turns, so that few of them lose too often', { timeout: 30_000 }, async () => {
    const databases = await openRegistries(1);
    const options = { databases, concurrency: 24, durationMs: 1_500, chaining: false };
    const [progress] = await fightOverOneRow(options);
    expect(progress?.applied).toBeGreaterThan(0);
    expect(progress === undefined ? 0 : failuresOf(progress)).toBeLessThan((progress?.applied ?? 0) / 2);
  });
});
