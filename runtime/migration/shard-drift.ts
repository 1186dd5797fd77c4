import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { messageOf } from '../errors.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { onEachShard, SHARDS_AT_ONCE, type ShardOutcome } from '../sharding/each-shard.js';
import { type SchemaSnapshot, snapshotSchema } from './schema-snapshot.js';
import { type ExpectedTable, tableDrift } from './table-drift.js';

/** The differences between one shard and the others or the models. */
export interface ShardDrift {
  readonly shard: ShardIdentifier;
  /** What it is compared with: `most shards`, or one shard if no schema is that of most. */
  readonly comparedWith: string;
  /** Properties that those have and this one lacks. */
  readonly lacks: readonly string[];
  /** Properties of this shard that those do not have. */
  readonly has: readonly string[];
  /** Differences between tables and models. */
  readonly tables: readonly string[];
  /** Why the shard could not be checked; undefined if it was. */
  readonly failure: string | undefined;
}

export interface DriftOptions {
  /** Tables of the models. Every shard has all of them, because all run the same migrations. */
  readonly tables: readonly ExpectedTable[];
  /** Maximum shards at a time. Default 8. */
  readonly atOnce?: number;
}

/** Compares the schema of every shard with the others and with the models. Returns the shards that differ. */
export async function findDrift(
  databases: DatabaseRegistry,
  options: DriftOptions,
): Promise<readonly ShardDrift[]> {
  const { atOnce = SHARDS_AT_ONCE } = options;
  const look = (shard: ShardIdentifier) => snapshotSchema(databases.database(shard));
  return compareSchemas(await onEachShard(databases.shards(), atOnce, look), options);
}

/** As `findDrift`, for schemas that were already read. */
export function compareSchemas(
  outcomes: readonly ShardOutcome<SchemaSnapshot>[],
  { tables: expected }: Pick<DriftOptions, 'tables'>,
): readonly ShardDrift[] {
  const { lines: usual, of: comparedWith } = usualSchema(outcomes);
  const drifts = outcomes.map(({ shard, ...outcome }): ShardDrift => {
    const known = { shard, comparedWith };
    if (!outcome.ok) return { ...known, lacks: [], has: [], tables: [], failure: messageOf(outcome.error) };
    const lines = new Set(outcome.value.lines);
    return {
      ...known,
      lacks: [...usual].filter((line) => !lines.has(line)),
      has: outcome.value.lines.filter((line) => !usual.has(line)),
      tables: tableDrift(expected, outcome.value),
      failure: undefined,
    };
  });
  return drifts.filter(({ lacks, has, tables, failure }) => {
    return lacks.length > 0 || has.length > 0 || tables.length > 0 || failure !== undefined;
  });
}

const MOST = 'most shards';
/** Maximum differences that are described. */
const SHOWN = 5;

/** Describes the differences between a shard and the others in one line; '' if there are none. */
export function describeDifference({ lacks, has }: ShardDrift): string {
  return firstOf([...lacks.map((line) => `lacks ${line}`), ...has.map((line) => `has ${line}`)]);
}

/** The first messages in one line, and the number of the others. */
export function firstOf(messages: readonly string[]): string {
  const more = messages.length > SHOWN ? `; and ${messages.length - SHOWN} more` : '';
  return `${messages.slice(0, SHOWN).join('; ')}${more}`;
}

/** The schema that most shards have; if there is none, the first of several equally frequent ones. */
function usualSchema(outcomes: readonly ShardOutcome<SchemaSnapshot>[]): {
  readonly lines: ReadonlySet<string>;
  readonly of: string;
} {
  const schemas = new Map<
    string,
    { readonly lines: readonly string[]; readonly of: string; count: number }
  >();
  let total = 0;
  for (const outcome of outcomes) {
    if (!outcome.ok) continue;
    total += 1;
    const { lines } = outcome.value;
    const text = lines.join('\n');
    const known = schemas.get(text) ?? { lines, of: `shard ${outcome.shard}`, count: 0 };
    known.count += 1;
    schemas.set(text, known);
  }
  const [first] = [...schemas.values()].sort((left, right) => right.count - left.count);
  if (first === undefined) return { lines: new Set(), of: MOST };
  return { lines: new Set(first.lines), of: first.count * 2 > total ? MOST : first.of };
}
