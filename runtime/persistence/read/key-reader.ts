import { NO_SLOT } from '../../collections/transient-set.js';
import { deadlines, type Wait } from '../../concurrency/deadlines.js';
import { time } from '../../concurrency/time.js';
import type { JsonValue } from '../../domain/json.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import type { CallOptions, ShardDatabase, Statement } from '../../sharding/shard-database.js';
import { sqlStateMeaning } from '../../sharding/sql-state.js';
import { textArray } from '../codec/column-codec.js';
import type { KeyName, KeyRecord } from '../write/idempotency-key.js';
import { REPLICATION_WAIT } from '../write/replication-wait.js';

/** A pending look-up. */
interface LookUp extends Wait {
  readonly name: KeyName;
  /**
   * In milliseconds on the clock of `time.nowMs()`; `Infinity` if only the data source's statement time-out applies.
   */
  readonly deadline: number;
  isSent: boolean;
  readonly resolve: (record: KeyRecord | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Maximum keys per statement. */
const MAXIMUM_BATCH = 256;
/** Maximum statements in flight; look-ups that arrive meanwhile form the next batch. */
const MAXIMUM_IN_FLIGHT = 4;

/**
 * Looks up idempotency keys on one shard. A look-up is sent at once while few are in flight; later ones are sent
 * together as one statement when one returns. A look-up never joins a statement that was already sent. Each look-up
 * ends at its own deadline, independent of its batch.
 */
export class KeyReader {
  readonly #database: ShardDatabase;
  readonly #waiting = new Set<LookUp>();
  #inFlight = 0;

  constructor(database: ShardDatabase) {
    this.#database = database;
  }

  /** The record of a key, or undefined. @throws DriverFailure */
  read(name: KeyName, options?: CallOptions): Promise<KeyRecord | undefined> {
    const deadline = time.nowMs() + (options?.timeoutMs ?? Number.POSITIVE_INFINITY);
    return new Promise((resolve, reject) => {
      const lookUp: LookUp = {
        name,
        deadline,
        slot: NO_SLOT,
        isSent: false,
        resolve,
        reject,
        expire: () => this.#expire(lookUp),
      };
      this.#waiting.add(lookUp);
      // Sent at once, the look-up's own statement time-out ends it; it needs no deadline in the queue.
      if (this.#inFlight < MAXIMUM_IN_FLIGHT) this.#send();
      else deadlines.watch(lookUp);
    });
  }

  #expire(lookUp: LookUp): void {
    this.#waiting.delete(lookUp);
    const facts = { phase: lookUp.isSent ? 'in-flight' : 'not-sent', reason: 'deadline' } as const;
    lookUp.reject(new DriverFailure('the lookup of a key did not finish in time', facts));
  }

  #send(): void {
    const batch = this.#takeBatch();
    if (batch.length === 0) return;
    this.#inFlight += 1;
    void this.#readBatch(batch).finally(() => {
      for (const lookUp of batch) deadlines.forget(lookUp);
      this.#inFlight -= 1;
      this.#send();
    });
  }

  #takeBatch(): readonly LookUp[] {
    const batch: LookUp[] = [];
    for (const lookUp of this.#waiting) {
      if (batch.length === MAXIMUM_BATCH) break;
      this.#waiting.delete(lookUp);
      lookUp.isSent = true;
      batch.push(lookUp);
    }
    return batch;
  }

  /** Never rejects. The statement has the longest remaining time of its callers. */
  async #readBatch(batch: readonly LookUp[]): Promise<void> {
    const deadline = Math.max(...batch.map((lookUp) => lookUp.deadline));
    const limits =
      deadline === Number.POSITIVE_INFINITY ? {} : { timeoutMs: Math.max(1, deadline - time.nowMs()) };
    try {
      const { rows } = await this.#database.query(statementFor(batch.map(({ name }) => name)), limits);
      const records = new Map(rows.map((row) => [Number(row[0]), toRecord(row)]));
      for (const [index, { resolve }] of batch.entries()) resolve(records.get(index + 1));
    } catch (error) {
      if (batch.length > 1 && isAboutOne(error)) return this.#readHalves(batch);
      for (const { reject } of batch) reject(error);
    }
  }

  /** Splits a failed batch, so that only the look-up of the bad key fails. */
  async #readHalves(batch: readonly LookUp[]): Promise<void> {
    const middle = Math.ceil(batch.length / 2);
    await this.#readBatch(batch.slice(0, middle));
    await this.#readBatch(batch.slice(middle));
  }
}

/** Whether one look-up may have failed the whole batch: the server refuses its name, or its row cannot be decoded. */
function isAboutOne(error: unknown): boolean {
  if (!(error instanceof DriverFailure)) return true;
  return error.sqlState !== undefined && sqlStateMeaning(error.sqlState) === 'value';
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
