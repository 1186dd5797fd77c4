import { setTimeout as sleep } from 'node:timers/promises';
import { uuid7 } from '../../domain/id-source.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { TransactionManager } from '../../sharding/transaction-manager.js';

/** A generator of numbers from 0 to 1 with a seed (the mulberry32 algorithm). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface LateWritersOptions {
  readonly writers: number;
  /** Total of all writers. */
  readonly events: number;
  /** Maximum events per transaction. */
  readonly largest: number;
  /** Maximum pause between the insert and its commit, in milliseconds. */
  readonly longestPauseMs: number;
  readonly random: () => number;
}

const MODELS_PER_WRITER = 20;
const CREATED = '2025-01-01T00:00:00Z';

/**
 * Writes events as the executor does, but holds each transaction open for a random time, so that rows become visible in
 * another order than they were written in. Each writer has its own models, whose versions count from 1.
 *
 * @returns the last version of each model
 */
export async function writeLate(
  database: ShardDatabase,
  options: LateWritersOptions,
): Promise<ReadonlyMap<string, number>> {
  const versions = new Map<string, number>();
  let left = options.events;
  const take = (): number => {
    const size = Math.min(left, 1 + Math.floor(options.random() * options.largest));
    left -= size;
    return size;
  };
  await Promise.all(Array.from({ length: options.writers }, () => writer(database, options, versions, take)));
  return versions;
}

async function writer(
  database: ShardDatabase,
  { random, longestPauseMs }: LateWritersOptions,
  versions: Map<string, number>,
  take: () => number,
): Promise<void> {
  const manager = new TransactionManager(database);
  const models = Array.from({ length: MODELS_PER_WRITER }, () => uuid7.next(database.shard.bits));
  for (let size = take(); size > 0; size = take()) {
    const rows = Array.from({ length: size }, () => {
      const model = models[Math.floor(random() * models.length)] ?? '';
      const version = (versions.get(model) ?? 0) + 1;
      versions.set(model, version);
      return { model, version };
    });
    await manager.transaction(
      async (transaction) => {
        const values = [
          `{${rows.map(() => uuid7.next(database.shard.bits)).join(',')}}`,
          `{${rows.map(({ model }) => model).join(',')}}`,
          `{${rows.map(({ version }) => version).join(',')}}`,
        ];
        await transaction.query({ text: INSERT, name: 'late_insert', values });
        if (longestPauseMs > 0) await sleep(random() * longestPauseMs);
      },
      { timeoutMs: 60_000 },
    );
  }
}

const INSERT = `INSERT INTO eventlog.events
  (id, action_id, namespace, model_id, model_name, event_type, payload, created_date, model_version)
SELECT id, id, 'test', model, 'Account', 'AccountCredited', '{"amount":"1"}', '${CREATED}', version
FROM unnest($1::uuid[], $2::text[], $3::bigint[]) AS e(id, model, version)`;
