import type { ShardIdentifier } from '../../runtime/domain/shard-identifier.js';
import type { DatabaseRegistry } from '../../runtime/sharding/database-registry.js';
import type { Kind } from './models.js';
import type { State } from './script.js';

export interface StoredRow {
  readonly kind: Kind;
  readonly id: string;
  readonly state: State;
}

export interface EventRow {
  readonly actionId: string;
  readonly modelId: string;
  readonly modelName: string;
  readonly modelVersion: number;
  readonly payload: unknown;
}

export interface ActionRowFound {
  readonly id: string;
  readonly status: string;
  readonly name: string;
  readonly principal: string;
}

export interface KeyRow {
  readonly principal: string;
  readonly key: string;
  readonly actionId: string;
  readonly target: string;
  readonly hasResult: boolean;
}

/** The content of one shard. */
export interface ShardDump {
  readonly rows: readonly StoredRow[];
  /** In the order of their positions. */
  readonly events: readonly EventRow[];
  readonly actions: readonly ActionRowFound[];
  readonly keys: readonly KeyRow[];
}

const TABLES: Readonly<Record<Kind, string>> = { Purse: 'purses', Tally: 'tallies', Badge: 'badges' };

export async function dumpShard(databases: DatabaseRegistry, shard: ShardIdentifier): Promise<ShardDump> {
  const query = async (text: string): Promise<readonly (readonly unknown[])[]> =>
    (await databases.database(shard).query({ text, values: [] }, { timeoutMs: 60_000 })).rows;
  const rows: StoredRow[] = [];
  for (const kind of ['Purse', 'Tally', 'Badge'] as const) {
    for (const row of await query(`select id, version, value, writer, bucket, label from ${TABLES[kind]}`)) {
      rows.push({ kind, id: String(row[0]), state: toState(row.slice(1)) });
    }
  }
  const events = await query(
    'select action_id, model_id, model_name, model_version, payload from eventlog.events order by position',
  );
  const actions = await query('select id, status, name, principal from eventlog.actions');
  const keys = await query(
    'select principal, key, action_id, target_group, target_member, result is not null from eventlog.idempotency_keys',
  );
  return {
    rows,
    events: events.map(([actionId, modelId, modelName, modelVersion, payload]) => ({
      ...{ actionId: String(actionId), modelId: String(modelId), modelName: String(modelName) },
      ...{ modelVersion: Number(modelVersion), payload },
    })),
    actions: actions.map((row) => {
      const [id = '', status = '', name = '', principal = ''] = row.map(String);
      return { id, status, name, principal };
    }),
    keys: keys.map(([principal, key, actionId, group, member, hasResult]) => ({
      ...{ principal: String(principal), key: String(key), actionId: String(actionId) },
      ...{ target: `(${String(group)}, ${String(member)})`, hasResult: hasResult === true },
    })),
  };
}

function toState([version, value, writer, bucket, label]: readonly unknown[]): State {
  return {
    version: Number(version),
    value: Number(value),
    writer: String(writer),
    bucket: Number(bucket),
    label: label === null ? null : String(label),
  };
}
