import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { parseUuid } from '../../domain/uuid.js';
import { ValidationError } from '../../errors.js';
import type { OperatedShards } from '../delivery/operated-shards.js';
import * as column from '../log/columns.js';
import type { LoggedEvent } from '../log/event-record.js';

/** `failed`: the handler failed on the event. `waiting`: the event follows a failed event of the same model. */
type DeadLetterState = 'failed' | 'waiting' | 'discarded';

/** A parked event. */
export interface DeadLetter {
  readonly shard: ShardIdentifier;
  /** Name of the handler or of the replay. */
  readonly handler: string;
  readonly eventId: string;
  readonly state: DeadLetterState;
  readonly modelName: string;
  readonly modelId: string;
  readonly eventType: string;
  readonly attempts: number;
  readonly errorCode: string | undefined;
  readonly errorMessage: string | undefined;
  readonly parkedDate: Date;
  /** Whether a requested retry has not finished yet. */
  readonly retrying: boolean;
}

/** A parked event with all details. */
export interface DeadLetterDetails extends DeadLetter {
  readonly event: LoggedEvent;
  readonly errorStack: string | undefined;
  readonly failedDate: Date | undefined;
  readonly discardedDate: Date | undefined;
  readonly note: string | undefined;
}

/** Selects dead letters. Fields combine by AND; an absent field matches all. */
export interface DeadLetterFilter {
  readonly handler?: string;
  readonly shard?: ShardIdentifier;
  readonly modelId?: string;
  readonly eventId?: string;
}

/** Which dead letters to list, and the maximum number. */
interface DeadLetterListOptions extends DeadLetterFilter {
  /** Default: all but discarded ones. */
  readonly state?: DeadLetterState;
  /** Maximum per shard. Default 100. */
  readonly limit?: number;
}

/** The events on which handlers failed. They stay until they are handled or discarded and never expire. */
export class DeadLetters {
  readonly #shards: OperatedShards;

  /** @internal */
  constructor(shards: OperatedShards) {
    this.#shards = shards;
  }

  /** Lists dead letters, ordered by handler and model and, within a model, by the order of handling. */
  async list(options: DeadLetterListOptions = {}): Promise<readonly DeadLetter[]> {
    const { shard, state, limit = 100 } = options;
    const values = [...filterValues(options), state ?? null, limit];
    return this.#shards.read(shard, { text: LIST, values }, LETTER);
  }

  /** The details of one event, once for each handler that failed on it. */
  async show(
    eventId: string,
    options: Omit<DeadLetterFilter, 'eventId'> = {},
  ): Promise<readonly DeadLetterDetails[]> {
    const values = filterValues({ ...options, eventId });
    return this.#shards.read(options.shard, { text: SHOW, values }, DETAILS);
  }

  /**
   * Requests a retry. The process that holds the handler's lease resumes the models in order, within about a second. A
   * model stays parked at its first event that fails again.
   *
   * @returns the number of models to retry
   */
  async retry(filter: DeadLetterFilter): Promise<number> {
    return this.#change(filter, RETRY);
  }

  /**
   * Discards events permanently: they are stored as discarded, and the later events of their models are resumed, unless
   * a failed event is in front of them.
   *
   * @param note the reason, stored with them; at most 2,000 characters
   * @returns the number of discarded events
   * @throws ValidationError for a filter without a handler, or a longer note
   */
  async discard(filter: DeadLetterFilter & { readonly handler: string }, note?: string): Promise<number> {
    if (filter.handler === '') throw new ValidationError('discard needs a handler', { field: 'handler' });
    if (note !== undefined && note.length > LONGEST_NOTE) {
      throw new ValidationError(`A note has at most ${LONGEST_NOTE} characters`, { field: 'note' });
    }
    return this.#change(filter, DISCARD, [note ?? null]);
  }

  /** One statement for `MODELS_AT_ONCE` models: all of them at once may take longer than a statement may. */
  async #change(filter: DeadLetterFilter, text: string, more: readonly unknown[] = []): Promise<number> {
    const counts = await this.#shards.ask(filter.shard, async (database) => {
      let count = 0;
      for (let after: readonly unknown[] | undefined = ['', '', '']; after !== undefined; ) {
        const values = [...filterValues(filter), ...after, ...more];
        const { rows } = await database.query({ text, values });
        for (const [, , , changed] of rows) count += Number(changed);
        after = rows[MODELS_AT_ONCE - 1]?.slice(0, 3);
      }
      return count;
    });
    this.#shards.changed();
    return counts.reduce((total, each) => total + each, 0);
  }
}

const MODELS_AT_ONCE = 1_000;

const LONGEST_NOTE = 2_000;

/** @throws ValidationError if the event's id is no UUID */
function filterValues({ handler, modelId, eventId }: DeadLetterFilter): readonly (string | null)[] {
  // Events name models in lower case.
  const event = eventId === undefined ? null : parseUuid(eventId);
  return [handler ?? null, modelId?.toLowerCase() ?? null, event];
}

const FILTER =
  '($1::text IS NULL OR consumer = $1) AND ($2::text IS NULL OR model_id = $2) AND ($3::uuid IS NULL OR event_id = $3)';
const LETTER: column.Columns<Omit<DeadLetter, 'shard'>> = {
  handler: column.text('consumer'),
  eventId: column.text('event_id'),
  state: column.raw('state'),
  modelName: column.text('model_name'),
  modelId: column.text('model_id'),
  eventType: column.text('event_type'),
  attempts: column.numeric('attempts'),
  errorCode: column.optional(column.text('error_code')),
  errorMessage: column.optional(column.text('error_message')),
  parkedDate: column.raw('parked_date'),
  retrying: column.flag('retry_date IS NOT NULL'),
};
const DETAILS: column.Columns<Omit<DeadLetterDetails, 'shard'>> = {
  ...LETTER,
  event: column.raw('event'),
  errorStack: column.optional(column.text('error_stack')),
  failedDate: column.optional(column.raw('failed_date')),
  discardedDate: column.optional(column.raw('discarded_date')),
  note: column.optional(column.text('note')),
};
const ORDER = 'ORDER BY consumer, model_name, model_id, epoch, transaction_id, position';

const LIST = `SELECT ${column.list(LETTER)} FROM eventlog.dead_letters
WHERE ${FILTER} AND (state = $4 OR ($4::text IS NULL AND state <> 'discarded')) ${ORDER} LIMIT $5`;

const SHOW = `SELECT ${column.list(DETAILS)} FROM eventlog.dead_letters WHERE ${FILTER} ${ORDER}`;

/** The next models, in the order of the index: $4 to $6 are the last one before them. */
const MEANT = `meant AS (SELECT DISTINCT consumer, model_name, model_id FROM eventlog.dead_letters
  WHERE ${FILTER} AND state <> 'discarded' AND (consumer, model_name, model_id) > ($4::text, $5::text, $6::text)
  ORDER BY consumer, model_name, model_id LIMIT ${MODELS_AT_ONCE})`;

/** A retry always covers whole models, because the order within a model is kept. */
const RETRY = `WITH ${MEANT},
r AS (UPDATE eventlog.dead_letters AS d SET retry_date = now() FROM meant AS m
  WHERE d.consumer = m.consumer AND d.model_name = m.model_name AND d.model_id = m.model_id AND d.state <> 'discarded')
SELECT *, 1 FROM meant ORDER BY consumer, model_name, model_id`;

const DISCARD = `WITH ${MEANT},
gone AS (UPDATE eventlog.dead_letters
  SET state = 'discarded', discarded_date = now(), retry_date = NULL, note = $7
  WHERE ${FILTER} AND state <> 'discarded' AND (consumer, model_name, model_id) IN (SELECT * FROM meant)
  RETURNING consumer, model_name, model_id, event_id),
behind AS (UPDATE eventlog.dead_letters AS d SET retry_date = now()
  FROM (SELECT DISTINCT consumer, model_name, model_id FROM gone) AS m
  WHERE NOT EXISTS (SELECT FROM eventlog.dead_letters AS f
      WHERE f.consumer = m.consumer AND f.model_name = m.model_name AND f.model_id = m.model_id AND f.state = 'failed'
        AND NOT EXISTS (SELECT FROM gone AS g WHERE g.consumer = f.consumer AND g.event_id = f.event_id))
    AND d.consumer = m.consumer AND d.model_name = m.model_name AND d.model_id = m.model_id AND d.state <> 'discarded'
    AND NOT EXISTS (SELECT FROM gone AS g WHERE g.consumer = d.consumer AND g.event_id = d.event_id))
SELECT consumer, model_name, model_id, count(event_id) FROM meant LEFT JOIN gone USING (consumer, model_name, model_id)
GROUP BY consumer, model_name, model_id ORDER BY consumer, model_name, model_id`;
