import type { JsonValue } from '../domain/json.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import type { CallOptions, ShardDatabase, Statement } from '../sharding/shard-database.js';
import { arrayLiteral, quoteElement } from './column-codec.js';
import type { KeyName, KeyRecord } from './idempotency-key.js';

interface Waiting {
  readonly name: KeyName;
  readonly options: CallOptions | undefined;
  readonly resolve: (record: KeyRecord | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Most keys of one statement. */
const MAXIMUM_BATCH = 256;
/** Statements that are on their way at a time; what comes meanwhile travels together. */
const MAXIMUM_IN_FLIGHT = 4;

/**
 * Looks idempotency keys up on one shard. Alone, a look-up goes at once; what arrives while others are in flight is sent
 * as one statement, and never joins one that has been sent.
 */
export class KeyReader {
  readonly #database: ShardDatabase;
  #waiting: Waiting[] = [];
  #inFlight = 0;

  constructor(database: ShardDatabase) {
    this.#database = database;
  }

  /** What is known about a key. @throws DriverFailure */
  read(name: KeyName, options?: CallOptions): Promise<KeyRecord | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ name, options, resolve, reject });
      if (this.#inFlight < MAXIMUM_IN_FLIGHT) this.#send();
    });
  }

  #send(): void {
    const batch = this.#waiting.splice(0, MAXIMUM_BATCH);
    if (batch.length === 0) return;
    this.#inFlight += 1;
    void this.#readBatch(batch).finally(() => {
      this.#inFlight -= 1;
      this.#send();
    });
  }

  /** Never rejects. The most patient caller decides; a hasty one gives up by itself. */
  async #readBatch(batch: readonly Waiting[]): Promise<void> {
    const limits = batch.map(({ options }) => options?.timeoutMs);
    const timeoutMs = limits.includes(undefined) ? undefined : Math.max(...limits.map(Number));
    try {
      const names = batch.map(({ name }) => name);
      const { rows } = await this.#database.query(
        statementFor(names),
        timeoutMs === undefined ? {} : { timeoutMs },
      );
      const records = new Map(rows.map((row) => [Number(row[0]), toRecord(row)]));
      for (const [index, { resolve }] of batch.entries()) resolve(records.get(index + 1));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

const COLUMNS =
  'k.fingerprint, k.action_id, k.target_group, k.target_member, k.result, k.expires_date <= now() ' +
  'FROM eventlog.idempotency_keys AS k';

const READ_KEY = `SELECT 1, ${COLUMNS} WHERE principal = $1 AND operation = $2 AND key = $3`;

/** Row by row, because the planner does not know how few rows a key has. */
const READ_KEYS = `SELECT n.nr::integer, f.* FROM unnest($1::text[], $2::text[], $3::text[])
  WITH ORDINALITY AS n(principal, operation, key, nr)
CROSS JOIN LATERAL (SELECT ${COLUMNS}
  WHERE k.principal = n.principal AND k.operation = n.operation AND k.key = n.key OFFSET 0) AS f`;

function statementFor(names: readonly KeyName[]): Statement {
  const [only] = names;
  if (names.length === 1 && only !== undefined) {
    return { name: 'fw_read_key', text: READ_KEY, values: [only.principal, only.operation, only.key] };
  }
  const column = (text: (name: KeyName) => string): string =>
    arrayLiteral(names.map((name) => quoteElement(text(name))));
  const values = [
    column(({ principal }) => principal),
    column(({ operation }) => operation),
    column(({ key }) => key),
  ];
  return { name: 'fw_read_keys', text: READ_KEYS, values };
}

function toRecord(row: readonly unknown[]): KeyRecord {
  const [, fingerprint, actionId, group, member, result, expired] = row;
  return {
    fingerprint: String(fingerprint),
    actionId: String(actionId),
    target: ShardIdentifier.of(Number(group), Number(member)),
    result: result === null ? undefined : (result as JsonValue),
    expired: expired === true,
  };
}
