import type { JsonObject } from '../../domain/json.js';
import { storedText } from '../../domain/storable-text.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { type LoggedEvent, modelKeyOf } from '../log/event-record.js';
import type { StatementRunner } from '../log/log-reader.js';
import { HOLDS, type Lease } from './consumer-store.js';

export interface HandlingFailure {
  readonly attempts: number;
  readonly code: string;
  readonly message: string;
  readonly stack: string;
}

/** An event to be written to the parking table. Without a failure it only waits behind a failed event of its model. */
export interface ParkedEvent {
  readonly event: LoggedEvent;
  readonly failure: HandlingFailure | undefined;
}

/** A parked event as it is read for a retry. */
export interface ParkedLetter {
  readonly event: LoggedEvent;
  /** Failed attempts, including those of earlier retries. */
  readonly attempts: number;
}

/**
 * The outcome of deleting a parked event. `gone`: its row no longer exists, because it was discarded or because an
 * earlier attempt, whose reply was lost, deleted it. `lost`: the process no longer holds the lease.
 */
export type Settlement = 'settled' | 'gone' | 'lost';

/** The parking table of one shard, for the holder of a consumer's lease. Each statement is fenced by the lease. */
export class ParkingStore {
  readonly #database: ShardDatabase;

  constructor(database: ShardDatabase) {
    this.#database = database;
  }

  /** Keys of the models that are parked for this consumer, and whether they are to be resumed. */
  async parkedModels(
    consumer: string,
  ): Promise<readonly { readonly key: string; readonly retry: boolean }[]> {
    const { rows } = await this.#database.query({ text: MODELS, name: 'fw_parked', values: [consumer] });
    return rows.map(([modelName, modelId, retry]) => ({
      key: modelKeyOf({ modelName: String(modelName), modelId: String(modelId) }),
      retry: retry === true,
    }));
  }

  /**
   * Copies events to the parking table. False if the lease has been lost. Events before the checkpoint are left out:
   * they were parked before, and may have been handled since.
   */
  async park(
    lease: Lease,
    parked: readonly ParkedEvent[],
    on: StatementRunner = this.#database,
  ): Promise<boolean> {
    const letters = parked.map(({ event, failure }) => ({ event, ...(failure && storable(failure)) }));
    const values = [...leaseValues(lease), JSON.stringify(letters)];
    const { rows } = await on.query({ text: PARK, name: 'fw_park', values });
    return rows[0]?.[0] === true;
  }

  /** At most `limit` parked events of one model in order, each with its failed attempts. */
  async of(
    consumer: string,
    model: Pick<LoggedEvent, 'modelName' | 'modelId'>,
    limit: number,
  ): Promise<readonly ParkedLetter[]> {
    const values = [consumer, model.modelName, model.modelId, limit];
    const { rows } = await this.#database.query({ text: OF_MODEL, name: 'fw_parked_of', values });
    return rows.map(([event, attempts]) => ({
      event: event as JsonObject as unknown as LoggedEvent,
      attempts: Number(attempts),
    }));
  }

  /** Deletes a parked event that was handled. */
  async settle(lease: Lease, eventId: string, on: StatementRunner = this.#database): Promise<Settlement> {
    const { rows } = await on.query({
      text: SETTLE,
      name: 'fw_settle',
      values: [...leaseValues(lease), eventId],
    });
    const [held, settled] = rows[0] ?? [];
    if (held !== true) return 'lost';
    return Number(settled) > 0 ? 'settled' : 'gone';
  }

  /**
   * Records another failure of a parked event: its model stays parked until the next retry is requested. No effect if
   * another failure has been recorded since the event was read, because a statement that arrives late must not undo a
   * retry that was requested in the meantime.
   */
  async fail(
    lease: Lease,
    { event, attempts: known }: ParkedLetter,
    failure: HandlingFailure,
  ): Promise<void> {
    const { attempts, code, message, stack } = storable(failure);
    const values = [...leaseValues(lease), event.id, attempts, code, message, stack, known];
    await this.#database.query({ text: FAIL, values });
  }
}

function leaseValues({ name, holder, fence }: Lease): readonly string[] {
  return [name, holder, fence];
}

/** Maximum characters of a stored stack, which begins with the message. */
const LONGEST_STACK = 16_000;

function storable({ attempts, code, message, stack }: HandlingFailure): HandlingFailure {
  const texts = { code: storedText(code), message: storedText(message) };
  return { attempts, ...texts, stack: storedText(stack, LONGEST_STACK) };
}

/** Locks the lease's row, so that no other process takes it over before the dependent transaction has committed. */
const HELD =
  'held AS MATERIALIZED (SELECT epoch, transaction_id, position FROM eventlog.consumers ' +
  `WHERE ${HOLDS} FOR NO KEY UPDATE)`;

/**
 * Events that wait behind no failed one are resumed, too: they were parked while the failed one was discarded or handled,
 * after the retry was requested.
 */
const MODELS =
  "SELECT model_name, model_id, bool_or(retry_date IS NOT NULL) OR NOT bool_or(state = 'failed') FROM eventlog.dead_letters " +
  "WHERE consumer = $1 AND state <> 'discarded' GROUP BY model_name, model_id";

const PARK = `WITH ${HELD},
i AS (INSERT INTO eventlog.dead_letters (consumer, event_id, model_name, model_id, event_type, epoch, transaction_id,
    position, event, attempts, error_code, error_message, error_stack, state, failed_date)
  SELECT $1, d.id, d."modelName", d."modelId", d."eventType", d.epoch, d."transactionId", d.position, l.event,
    coalesce(l.attempts, 0), l.code, l.message, l.stack, CASE WHEN l.code IS NULL THEN 'waiting' ELSE 'failed' END,
    CASE WHEN l.code IS NOT NULL THEN now() END
  FROM jsonb_to_recordset($4::jsonb) AS l(event jsonb, attempts integer, code text, message text, stack text),
    jsonb_to_record(l.event || (l.event -> 'cursor')) AS d(id uuid, "modelName" text, "modelId" text, "eventType" text,
      epoch integer, "transactionId" xid8, position bigint)
  WHERE EXISTS (SELECT FROM held AS h
    WHERE (d.epoch, d."transactionId", d.position) > (h.epoch, h.transaction_id, h.position))
  ON CONFLICT (consumer, event_id) DO NOTHING)
SELECT EXISTS (SELECT FROM held)`;

const OF_MODEL =
  'SELECT event, attempts FROM eventlog.dead_letters ' +
  "WHERE consumer = $1 AND model_name = $2 AND model_id = $3 AND state <> 'discarded' " +
  'ORDER BY epoch, transaction_id, position LIMIT $4';

const SETTLE = `WITH ${HELD},
d AS (DELETE FROM eventlog.dead_letters WHERE consumer = $1 AND event_id = $4::uuid AND state <> 'discarded'
  AND EXISTS (SELECT FROM held) RETURNING event_id)
SELECT EXISTS (SELECT FROM held), (SELECT count(*) FROM d)`;

const FAIL = `WITH ${HELD},
failed AS (UPDATE eventlog.dead_letters SET retry_date = NULL, state = 'failed', attempts = attempts + $5::integer,
    error_code = $6, error_message = $7, error_stack = $8, failed_date = now()
  WHERE consumer = $1 AND event_id = $4::uuid AND attempts = $9::integer AND state <> 'discarded'
    AND EXISTS (SELECT FROM held)
  RETURNING event_id, model_name, model_id)
UPDATE eventlog.dead_letters AS d SET retry_date = NULL FROM failed AS f
WHERE d.consumer = $1 AND d.model_name = f.model_name AND d.model_id = f.model_id AND d.event_id <> f.event_id
  AND d.state <> 'discarded'`;
