import type { ActionRegistry } from '../../action/action-registry.js';
import type { ExecutionEnvironment } from '../../concurrency/execution-environment.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import { ShardedId } from '../../domain/id.js';
import { uuid7 } from '../../domain/id-source.js';
import type { JsonObject } from '../../domain/json.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { JournalError, messageOf, ValidationError } from '../../errors.js';
import type { AttemptOutcome } from '../../persistence/attempt-outcome.js';
import {
  type PartName,
  paramsVersions,
  partChanges,
  partNames,
  planOfPart,
  type RecordedPart,
  RecordedPartReader,
} from '../../persistence/journal/journal-entry.js';
import type { JournalRow, JournalStore, JournalSurvey } from '../../persistence/journal/journal-store.js';
import type { FlushOutcome } from '../../persistence/shard-store.js';
import type { PlanWrite } from '../../persistence/write/plan-write.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { callShard, publicError } from '../../sharding/public-error.js';
import type { CallOptions } from '../../sharding/shard-database.js';
import { sqlStateMeaning } from '../../sharding/sql-state.js';
import { attemptPauseMs } from '../retry-policy.js';
import type { ShardGateways } from '../shard-gateways.js';

/**
 * The status of a shard transaction. `committed` and `void` (fenced: it can never be applied) are final. `not-applied`:
 * the shard has no trace of it so far. `unknown`: the shard did not answer.
 */
export type PartStatus = AttemptOutcome | 'not-applied' | 'unknown';

/** The part of a cross-shard plan that one shard commits. */
export interface JournalPart {
  /** As `(group, member)`. */
  readonly shard: string;
  readonly actionId: string;
  readonly status: PartStatus;
  /** Its changes: `update Account 0190... from version 3`. */
  readonly changes: readonly string[];
}

/** A cross-shard plan whose caller, as far as the journal shows, has not received the outcome. */
export interface JournalEntry {
  /** The action id of its first shard transaction. */
  readonly id: string;
  readonly actionName: string;
  readonly principal: string;
  readonly startedDate: Date;
  /** `flagged`: it has a note and recovery leaves it alone. `closed`: only `show` returns such entries. */
  readonly state: 'open' | 'flagged' | 'closed';
  readonly note: string | undefined;
  /** End of the lease of the execution itself or of another `finish`. */
  readonly leasedUntil: Date | undefined;
  /** Failed attempts to finish it. */
  readonly attempts: number;
  /** Error message of the last failed attempt. */
  readonly lastError: string | undefined;
  /** In the order in which they are applied. */
  readonly parts: readonly JournalPart[];
}

/** The definitions that the journal needs to read entries. */
export interface JournalDefinitions {
  /** All models of the application. */
  readonly models: readonly ModelDescriptor[];
  /** All actions of the application. */
  readonly registry: ActionRegistry;
}

/** Duration of the lease of one `finish` or `flag`, in milliseconds. The work takes less than half of it. */
const LEASE_MS = 30_000;
const FINISH_MS = 12_000;
const STATEMENT_MS = 2_000;
const MAXIMUM_ATTEMPTS = 5;
const MAXIMUM_NOTE_LENGTH = 2_000;
const DEFAULT_LIMIT = 100;

/**
 * Cross-shard plans that were left partially applied, by a crash between two commits or because the outcome of a shard
 * transaction could not be determined. One process at a time can finish an entry, or flag it with a note.
 */
export class CrossShardJournal {
  readonly #gateways: ShardGateways;
  readonly #environment: ExecutionEnvironment;
  readonly #parts: RecordedPartReader;
  readonly #registry: ActionRegistry;

  /** @internal use `application.journal` */
  constructor(gateways: ShardGateways, environment: ExecutionEnvironment, known: JournalDefinitions) {
    this.#gateways = gateways;
    this.#environment = environment;
    this.#parts = new RecordedPartReader(known.models);
    this.#registry = known.registry;
  }

  /**
   * Entries of one shard or of all that are not closed, oldest first. Includes entries of running executions (they have
   * `leasedUntil`).
   *
   * @param limit maximum entries per shard; default 100
   * @throws ShardUnavailableError, ShardBusyError if a shard with entries does not answer
   */
  async open(shard?: ShardIdentifier, limit: number = DEFAULT_LIMIT): Promise<readonly JournalEntry[]> {
    const entries: JournalEntry[] = [];
    for (const each of shard === undefined ? this.#gateways.shards : [shard]) {
      const { journal } = this.#gateways.gateway(each);
      const rows = await callShard(each, () => journal.list(limit, LIMITS));
      for (const row of rows) entries.push(await this.#describe(row));
    }
    return entries;
  }

  /**
   * One entry, closed ones included.
   *
   * @throws JournalError if there is none @throws ShardUnavailableError, ShardBusyError
   * @throws ValidationError if `entryId` is not an entry's id @throws UnknownShardError
   */
  async show(entryId: string): Promise<JournalEntry> {
    const { id, shard, journal } = this.#place(entryId);
    const row = await callShard(shard, () => journal.read(id, LIMITS));
    if (row === undefined) throw await this.#refusal(id, shard, journal);
    return this.#describe(row);
  }

  /**
   * The number of open entries of a shard, and at most `limit` entries that may be finished now, oldest first.
   *
   * @throws ShardUnavailableError, ShardBusyError
   * @throws UnknownShardError
   *
   * @internal
   */
  survey(shard: ShardIdentifier, limit: number): Promise<JournalSurvey> {
    const { journal } = this.#gateways.gateway(shard);
    return callShard(shard, () => journal.survey(limit, LIMITS));
  }

  /**
   * Requests that a serving process finish an entry at its next check of the journal, even after a flag or failed
   * attempts. No effect on a closed entry.
   *
   * @throws JournalError if the entry is unknown
   * @throws ShardUnavailableError, ShardBusyError
   * @throws ValidationError if `entryId` is not an entry's id
   * @throws UnknownShardError
   */
  async requestFinish(entryId: string): Promise<void> {
    const { id, shard, journal } = this.#place(entryId);
    const requested = await callShard(shard, () => journal.request(id, LIMITS));
    if (requested) return;
    const refusal = await this.#refusal(id, shard, journal);
    if (refusal.reason !== 'closed') throw refusal;
  }

  /**
   * Applies the missing shard transactions under their recorded action ids, so that none is applied twice, and closes
   * the entry. After an error it may be called again.
   *
   * @throws JournalError with a `reason`: applied shard transactions stay applied, the entry stays open
   * @throws ShardUnavailableError, ShardBusyError, RowBusyError if a shard is temporarily unable
   * @throws ValidationError if `entryId` is not an entry's id @throws UnknownShardError
   */
  async finish(entryId: string): Promise<void> {
    const deadline = this.#environment.nowMs() + FINISH_MS;
    await this.#leased(entryId, async ({ row, owner, journal, shard }) => {
      this.#requireKnown(row);
      for (const part of await this.#missing(row)) await this.#apply(row, part, deadline);
      const closed = await callShard(shard, () => journal.close(row.id, owner, 'applied', LIMITS));
      if (!closed) throw lostLease(row.id);
    });
  }

  /**
   * Stores a note with an entry, for operators. The entry stays in `open()` and can still be finished.
   *
   * @throws JournalError if the entry is unknown, closed or leased by another process
   * @throws ValidationError if the note is empty or longer than 2,000 characters
   */
  async flag(entryId: string, note: string): Promise<void> {
    if (note.trim() === '' || note.length > MAXIMUM_NOTE_LENGTH) {
      throw new ValidationError(`A note has 1 to ${MAXIMUM_NOTE_LENGTH} characters`, { field: 'note' });
    }
    await this.#leased(entryId, async ({ row, owner, journal, shard }) => {
      const flagged = await callShard(shard, () => journal.flag(row.id, owner, note, LIMITS));
      if (!flagged) throw lostLease(row.id);
    });
  }

  /** Runs `work` while this process holds the lease of the entry. */
  async #leased(entryId: string, work: (lease: Lease) => Promise<void>): Promise<void> {
    const { id, shard, journal } = this.#place(entryId);
    const owner = uuid7.next(shard.bits);
    const row = await callShard(shard, () => journal.lease(id, owner, LEASE_MS, LIMITS));
    if (row === undefined) throw await this.#refusal(id, shard, journal);
    try {
      await work({ row, owner, journal, shard });
    } catch (error) {
      // If this or the next statement fails, the lease expires by itself. A newer process can finish the entry without
      // a pause.
      if (error instanceof JournalError && error.reason === 'newer')
        await journal.release(row.id, owner, LIMITS).catch(() => {});
      else await journal.failed(row.id, owner, messageOf(error), LIMITS).catch(() => {});
      throw error;
    }
  }

  #place(entryId: string): Pick<Lease, 'journal' | 'shard'> & { readonly id: string } {
    const id = ShardedId.named('JournalEntry', entryId);
    const shard = id.resolveShardIdentifier();
    return { id: id.getValue(), shard, journal: this.#gateways.gateway(shard).journal };
  }

  async #refusal(id: string, shard: ShardIdentifier, journal: JournalStore): Promise<JournalError> {
    const row = await callShard(shard, () => journal.read(id, LIMITS));
    if (row === undefined) return new JournalError(id, 'unknown', 'there is no such entry');
    if (row.state === 'closed') return new JournalError(id, 'closed', 'it is closed');
    return new JournalError(id, 'leased', 'another process is working on it');
  }

  /** The missing shard transactions. @throws JournalError if one of them can never be applied; then none is */
  async #missing(row: JournalRow): Promise<readonly RecordedPart[]> {
    const missing: RecordedPart[] = [];
    for (const part of this.#parts.read(row.parts)) {
      const status = await callShard(part.shard, () => this.#outcomeOf(part));
      if (status === 'void') throw voidPart(row.id, part);
      if (status === undefined) missing.push(part);
    }
    return missing;
  }

  async #outcomeOf({ shard, actionId }: PartName): Promise<AttemptOutcome | undefined> {
    const outcomes = await this.#gateways.gateway(shard).journal.outcomes([actionId], LIMITS);
    return outcomes.get(actionId);
  }

  /** The action row makes an attempt idempotent, so a shard transaction whose reply was lost is sent again. */
  async #apply(row: JournalRow, part: RecordedPart, deadline: number): Promise<void> {
    const write = this.#planOf(row, part);
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#flush(row.id, part, write);
      if (outcome === 'applied') return;
      if (outcome === 'left-out') return this.#requireCommitted(row.id, part);
      const pauseMs = attemptPauseMs(attempt, this.#environment.random());
      if (attempt >= MAXIMUM_ATTEMPTS || this.#environment.nowMs() + pauseMs > deadline) {
        throw publicError(outcome, part.shard);
      }
      await this.#environment.sleep(pauseMs, undefined);
    }
  }

  /** An entry of a newer version may have fields that this process does not know. @throws JournalError */
  #requireKnown({ id, actionName, parts }: JournalRow): void {
    for (const [name, version] of paramsVersions(actionName, parts)) {
      if (!this.#registry.isTooNew(name, version)) continue;
      const message = `version ${version} of the params of ${name} is newer than this process knows`;
      throw new JournalError(id, 'newer', message);
    }
  }

  /** Sends a shard transaction. Returns a failure if another attempt may succeed. */
  async #flush(entryId: string, part: RecordedPart, write: PlanWrite): Promise<FlushOutcome | DriverFailure> {
    const { store } = this.#gateways.gateway(part.shard);
    try {
      const [outcome = 'left-out'] = await store.flush({ groups: [[write]], locked: 'wait' }, LIMITS);
      return outcome;
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error;
      if (!isRefusal(error)) return error;
      const cause = publicError(error, part.shard);
      throw new JournalError(
        entryId,
        'refused',
        `shard ${part.shard} refuses its transaction: ${cause.message}`,
        {
          cause,
        },
      );
    }
  }

  /** The store leaves a shard transaction out if it is already applied, or if its models have changed. */
  async #requireCommitted(entryId: string, part: RecordedPart): Promise<void> {
    const status = await callShard(part.shard, () => this.#outcomeOf(part));
    if (status === 'committed') return;
    if (status === 'void') throw voidPart(entryId, part);
    const models = part.items.map(({ descriptor, model }) => `${descriptor.name} ${model.id.getValue()}`);
    throw new JournalError(
      entryId,
      'stale',
      `${models.join(', ')} changed meanwhile; settle it by another action`,
    );
  }

  /** @throws JournalError if an upcaster throws */
  #planOf(row: JournalRow, part: RecordedPart): PlanWrite {
    return planOfPart(
      { ...part, params: this.#presentParams(row, part) },
      {
        name: row.actionName,
        principal: row.principal,
        startedDate: row.startedDate,
        completedDate: this.#environment.clock.now(),
      },
    );
  }

  /** A process writes params to the audit trail in the version that it knows. */
  #presentParams(
    { id, actionName }: JournalRow,
    { params, paramsVersion }: RecordedPart,
  ): string | undefined {
    if (params === undefined || paramsVersion === (this.#registry.named(actionName)?.version ?? 1))
      return params;
    // The entry stores the fields of the action's params.
    const stored = { version: paramsVersion, params: JSON.parse(params) as JsonObject };
    try {
      return JSON.stringify(this.#registry.upcastParams(actionName, stored));
    } catch (cause) {
      const reason = messageOf(cause);
      throw new JournalError(id, 'refused', reason, { cause });
    }
  }

  async #describe(row: JournalRow): Promise<JournalEntry> {
    const { parts: json, ...facts } = row;
    const changes = partChanges(json);
    const parts: JournalPart[] = [];
    for (const [index, part] of partNames(json).entries()) {
      const { shard, actionId } = part;
      const status = await this.#statusOf(part);
      parts.push({ shard: shard.toString(), actionId, status, changes: changes[index] ?? [] });
    }
    return { ...facts, parts };
  }

  async #statusOf(part: PartName): Promise<PartStatus> {
    try {
      return (await this.#outcomeOf(part)) ?? 'not-applied';
    } catch (error) {
      if (error instanceof DriverFailure) return 'unknown';
      throw error;
    }
  }
}

interface Lease {
  readonly row: JournalRow;
  readonly owner: string;
  readonly journal: JournalStore;
  readonly shard: ShardIdentifier;
}

const LIMITS: CallOptions = { timeoutMs: STATEMENT_MS };

/** Whether the database would refuse the same transaction again. */
function isRefusal({ phase, sqlState }: DriverFailure): boolean {
  if (phase !== 'answered' || sqlState === undefined) return false;
  const meaning = sqlStateMeaning(sqlState);
  return meaning === 'unique' || meaning === 'constraint' || meaning === 'value' || meaning === 'other';
}

function voidPart(entryId: string, { shard }: RecordedPart): JournalError {
  return new JournalError(
    entryId,
    'void',
    `its transaction on shard ${shard} was fenced and can never be applied`,
  );
}

function lostLease(entryId: string): JournalError {
  return new JournalError(entryId, 'leased', 'its lease expired, and another process may be working on it');
}
