import type { ModelDescriptor } from '../domain/descriptor.js';
import { MigrationError } from '../errors.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { findDrift, type ShardDrift } from './shard-drift.js';
import { expectedTable } from './table-drift.js';

export interface SchemaCheckOptions {
  readonly models: readonly ModelDescriptor[];
  /** What to do about tables that do not fit the models. Default `refuse`. */
  readonly drift?: DriftPolicy;
  readonly warn: (message: string) => void;
}

/** `refuse`: the application does not start. `warn`: it starts, and statements on those tables will fail. */
export type DriftPolicy = 'refuse' | 'warn';

/** So many differences are spelled out, so that one wrong shard does not drown the rest. */
const SHOWN = 5;

/**
 * Looks for drift before the application takes its first request. Tables that do not fit the models would fail request
 * by request, so they are refused here. Shards that differ in what no model needs (an index, say) and shards that cannot
 * be reached are warned of: they keep nobody from being served.
 *
 * @throws MigrationError naming each shard and each column
 */
export async function checkSchema(databases: DatabaseRegistry, options: SchemaCheckOptions): Promise<void> {
  const drifts = await findDrift(databases, { tables: options.models.map(expectedTable) });
  const faults: string[] = [];
  for (const drift of drifts) {
    const { shard, tables, failure } = drift;
    if (failure !== undefined)
      options.warn(`The schema of shard ${shard} could not be looked at: ${failure}`);
    const difference = describeDifference(drift);
    if (difference !== '') options.warn(`Shard ${shard} has another schema than most: ${difference}`);
    if (tables.length > 0) faults.push(`Shard ${shard}: ${list(tables.map(({ message }) => message))}`);
  }
  if (faults.length === 0) return;
  const message = `The tables do not fit the models. ${faults.join('. ')}. Write a migration (fw-gen migrate diff).`;
  if (options.drift !== 'warn') throw new MigrationError(message);
  options.warn(message);
}

/** In what a shard differs from the others, in one line; '' if it does not. */
export function describeDifference({ lacks, has }: ShardDrift): string {
  return list([...lacks.map((line) => `lacks ${line}`), ...has.map((line) => `has ${line}`)]);
}

function list(messages: readonly string[]): string {
  const more = messages.length > SHOWN ? `; and ${messages.length - SHOWN} more` : '';
  return `${messages.slice(0, SHOWN).join('; ')}${more}`;
}
