import type { ModelDescriptor } from '../domain/entity.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { MigrationError } from '../errors.js';
import type { ShardOutcome } from '../sharding/each-shard.js';
import type { SchemaSnapshot } from './schema-snapshot.js';
import { compareSchemas, type ShardDrift } from './shard-drift.js';
import { expectedTable, tableDrift } from './table-drift.js';

export interface FitOptions {
  readonly models: readonly ModelDescriptor[];
  /** Reaction to tables that do not match the models. Default `refuse`. */
  readonly drift?: DriftPolicy;
}

/** `refuse`: the shard is not served. `warn`: it is served, and statements on those tables will fail. */
export type DriftPolicy = 'refuse' | 'warn';

/** Maximum reported differences per shard. */
const SHOWN = 5;

/**
 * Checks for drift before a shard takes its first request. If tables do not match the models, requests would fail one
 * by one, so the shard is refused.
 *
 * @throws MigrationError naming each column
 */
export function requireFit(
  shard: ShardIdentifier,
  schema: SchemaSnapshot,
  { models, drift }: FitOptions,
  warn: (message: string) => void,
): void {
  const misfits = tableDrift(models.map(expectedTable), schema);
  if (misfits.length === 0) return;
  const found = list(misfits.map(({ message }) => message));
  const message = `The tables do not match the models. Shard ${shard}: ${found}. Write a migration (fw-gen migrate diff).`;
  if (drift !== 'warn') throw new MigrationError(message);
  warn(message);
}

/** Warns of shards that differ from most in something that no model needs (an index, for example). They are served. */
export function warnOfDifferences(
  schemas: readonly ShardOutcome<SchemaSnapshot>[],
  warn: (message: string) => void,
): void {
  for (const drift of compareSchemas(schemas, { tables: [] })) {
    const difference = describeDifference(drift);
    if (difference !== '') warn(`The schema of shard ${drift.shard} differs from most: ${difference}`);
  }
}

/** Describes the differences between a shard and the others in one line; '' if there are none. */
export function describeDifference({ lacks, has }: ShardDrift): string {
  return list([...lacks.map((line) => `lacks ${line}`), ...has.map((line) => `has ${line}`)]);
}

function list(messages: readonly string[]): string {
  const more = messages.length > SHOWN ? `; and ${messages.length - SHOWN} more` : '';
  return `${messages.slice(0, SHOWN).join('; ')}${more}`;
}
