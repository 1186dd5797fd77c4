import { deadlines } from '../../concurrency/deadlines.js';
import { time } from '../../concurrency/time.js';
import type { JsonValue } from '../../domain/json.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import type { CallOptions, ShardDatabase, Statement } from '../../sharding/shard-database.js';
import { textArray } from '../codec/column-codec.js';
import type { KeyName, KeyRecord } from '../write/idempotency-key.js';
import { REPLICATION_WAIT } from '../write/replication-wait.js';
import { BatchReader } from './batch-reader.js';

/** Maximum statements in flight. */
const MAXIMUM_IN_FLIGHT = 4;
/** Time limit of a look-up without one, in milliseconds. */
const TIMEOUT_MS = 1_800;

/** Looks up idempotency keys on one shard, many in one statement. Each look-up ends at its own deadline. */
export class KeyReader {
  readonly #reader: BatchReader<KeyRecord>;

  constructor(database: ShardDatabase) {
    const source = {
      load: async (ids: readonly string[], options: CallOptions) => {
        const { rows } = await database.query(statementFor(ids.map(nameOf)), options);
        return new Map(rows.map((row) => [ids[Number(row[0]) - 1], toRecord(row)]));
      },
      errorOf: (failure: unknown) => failure,
    };
    this.#reader = new BatchReader(database.shard, source, MAXIMUM_IN_FLIGHT);
  }

  /** The record of a key, or undefined. @throws DriverFailure @throws ShardBusyError if too many look-ups wait */
  read(name: KeyName, { timeoutMs = TIMEOUT_MS }: CallOptions = {}): Promise<KeyRecord | undefined> {
    const late = (): Error =>
      new DriverFailure('the lookup of a key did not finish in time', {
        phase: 'in-flight',
        reason: 'deadline',
      });
    return deadlines.race(this.#reader.read(idOf(name), timeoutMs), time.nowMs() + timeoutMs, late);
  }
}

function idOf({ principal, operation, key }: KeyName): string {
  return JSON.stringify([principal, operation, key]);
}

function nameOf(id: string): KeyName {
  const [principal = '', operation = '', key = '']: readonly string[] = JSON.parse(id);
  return { principal, operation, key };
}

const COLUMNS =
  'k.fingerprint, k.action_id, k.target_group, k.target_member, k.result, k.result IS NULL, ' +
  `k.expires_date <= now(), ${REPLICATION_WAIT} ` +
  'FROM eventlog.idempotency_keys AS k';

const READ_KEY = `SELECT 1, ${COLUMNS} WHERE principal = $1 AND operation = $2 AND key = $3`;

/** Looks up row by row with LATERAL, because the planner does not know how few rows a key has. */
const READ_KEYS = `SELECT n.nr::integer, f.* FROM unnest($1::text[], $2::text[], $3::text[])
  WITH ORDINALITY AS n(principal, operation, key, nr)
CROSS JOIN LATERAL (SELECT ${COLUMNS}
  WHERE k.principal = n.principal AND k.operation = n.operation AND k.key = n.key OFFSET 0) AS f`;

function statementFor(names: readonly KeyName[]): Statement {
  const [only] = names;
  if (names.length === 1 && only !== undefined) {
    return { name: 'fw_read_key', text: READ_KEY, values: [only.principal, only.operation, only.key] };
  }
  const column = (text: (name: KeyName) => string): string => textArray(names.map(text));
  const values = [
    column(({ principal }) => principal),
    column(({ operation }) => operation),
    column(({ key }) => key),
  ];
  return { name: 'fw_read_keys', text: READ_KEYS, values };
}

function toRecord(row: readonly unknown[]): KeyRecord {
  const [, fingerprint, actionId, group, member, result, isAbsent, expired] = row;
  return {
    fingerprint: String(fingerprint),
    actionId: String(actionId),
    target: ShardIdentifier.of(Number(group), Number(member)),
    // The JSON value `null` is a result.
    result: isAbsent === true ? undefined : (result as JsonValue),
    expired: expired === true,
  };
}
