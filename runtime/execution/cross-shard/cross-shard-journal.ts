import type { ActionRegistry } from '../../action/action-registry.js';
import type { ExecutionEnvironment } from '../../concurrency/execution-environment.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import { ShardedId } from '../../domain/id.js';
import { uuid7 } from '../../domain/id-source.js';
import type { JsonObject } from '../../domain/json.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { JournalError, messageOf, UnknownShardError, ValidationError } from '../../errors.js';
import type { AttemptOutcome } from '../../persistence/attempt-outcome.js';
import {
  paramsVersions,
  RecordedPartReader,
  type ShownPart,
  shownParts,
} from '../../persistence/journal/journal-entry.js';
import type {
  JournalEntry,
  JournalRow,
  JournalStore,
  JournalSurvey,
} from '../../persistence/journal/journal-store.js';
import type { FlushOutcome } from '../../persistence/shard-store.js';
import type { PartWrite, PlanWrite } from '../../persistence/write/plan-write.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { callShard, publicError } from '../../sharding/public-error.js';
import type { CallOptions } from '../../sharding/shard-database.js';
import { sqlStateMeaning } from '../../sharding/sql-state.js';
import { attemptPauseMs } from '../retry-policy.js';
import type { ShardGateways } from '../shard-gateways.js';

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
    if (row === undefined) throw await refusal(id, shard, journal);
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
    if (await callShard(shard, () => journal.request(id, LIMITS))) return;
    const error = await refusal(id, shard, journal);
    if (error.reason !== 'closed') throw error;
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
      requireKnown(this.#registry, row);
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
    if (row === undefined) throw await refusal(id, shard, journal);
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

  /** The missing shard transactions. @throws JournalError if one of them can never be applied; then none is */
  async #missing(row: JournalRow): Promise<readonly PartWrite[]> {
    const missing: PartWrite[] = [];
    for (const part of this.#parts.read(row, this.#environment.clock.now())) {
      const status = await callShard(part.shard, () => this.#outcomeOf(part.shard, part.write.action.id));
      if (status === 'void') throw voidPart(row.id, part.shard);
      if (status === undefined) missing.push(part);
    }
    return missing;
  }

  async #outcomeOf(shard: ShardIdentifier, actionId: string): Promise<AttemptOutcome | undefined> {
    return (await this.#gateways.gateway(shard).store.readAttempt(actionId, LIMITS)).outcome;
  }

  /** The action row makes an attempt idempotent, so a shard transaction whose reply was lost is sent again. */
  async #apply(row: JournalRow, recorded: PartWrite, deadline: number): Promise<void> {
    const part = { ...recorded, write: upcast(this.#registry, row, recorded.write) };
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#flush(row.id, part);
      if (outcome === 'applied') return;
      if (outcome === 'left-out') return this.#requireCommitted(row.id, part);
      const pauseMs = attemptPauseMs(attempt, this.#environment.random());
      if (attempt >= MAXIMUM_ATTEMPTS || this.#environment.nowMs() + pauseMs > deadline) {
        throw publicError(outcome, part.shard);
      }
      await this.#environment.sleep(pauseMs, undefined);
    }
  }

  /** Sends a shard transaction. Returns a failure if another attempt may succeed. */
  async #flush(entryId: string, { shard, write }: PartWrite): Promise<FlushOutcome | DriverFailure> {
    const { store } = this.#gateways.gateway(shard);
    try {
      const [outcome = 'left-out'] = await store.flush({ groups: [[write]], locked: 'wait' }, LIMITS);
      return outcome;
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error;
      if (!isRefusal(error)) return error;
      const cause = publicError(error, shard);
      const reason = `shard ${shard} refuses its transaction: ${cause.message}`;
      throw new JournalError(entryId, 'refused', reason, { cause });
    }
  }

  /** The store leaves a shard transaction out if it is already applied, or if its models have changed. */
  async #requireCommitted(entryId: string, { shard, write }: PartWrite): Promise<void> {
    const status = await callShard(shard, () => this.#outcomeOf(shard, write.action.id));
    if (status === 'committed') return;
    if (status === 'void') throw voidPart(entryId, shard);
    const models = write.items.map(({ descriptor, model }) => `${descriptor.name} ${model.id.getValue()}`);
    const reason = `${models.join(', ')} changed meanwhile; settle it by another action`;
    throw new JournalError(entryId, 'stale', reason);
  }

  async #describe(row: JournalRow): Promise<JournalEntry> {
    const parts: ShownStatus[] = [];
    for (const part of shownParts(row.parts)) {
      const { shard, actionId, changes } = part;
      parts.push({ shard: shard.toString(), actionId, status: await this.#statusOf(part), changes });
    }
    return { ...row, parts };
  }

  async #statusOf({ shard, actionId }: ShownPart): Promise<ShownStatus['status']> {
    try {
      return (await this.#outcomeOf(shard, actionId)) ?? 'not-applied';
    } catch (error) {
      // An entry may outlive a shard's removal from the configuration.
      if (error instanceof DriverFailure || error instanceof UnknownShardError) return 'unknown';
      throw error;
    }
  }
}

type ShownStatus = JournalEntry['parts'][number];

interface Lease {
  readonly row: JournalRow;
  readonly owner: string;
  readonly journal: JournalStore;
  readonly shard: ShardIdentifier;
}

const LIMITS: CallOptions = { timeoutMs: STATEMENT_MS };

async function refusal(id: string, shard: ShardIdentifier, journal: JournalStore): Promise<JournalError> {
  const row = await callShard(shard, () => journal.read(id, LIMITS));
  if (row === undefined) return new JournalError(id, 'unknown', 'there is no such entry');
  if (row.state === 'closed') return new JournalError(id, 'closed', 'it is closed');
  return new JournalError(id, 'leased', 'another process is working on it');
}

/** An entry of a newer version may have fields that this process does not know. @throws JournalError */
function requireKnown(registry: ActionRegistry, { id, actionName, parts }: JournalRow): void {
  for (const [name, version] of paramsVersions(actionName, parts)) {
    if (!registry.isTooNew(name, version)) continue;
    const message = `version ${version} of the params of ${name} is newer than this process knows`;
    throw new JournalError(id, 'newer', message);
  }
}

/**
 * A process writes params to the audit trail in the version that it knows. @throws JournalError if an upcaster throws
 */
function upcast(registry: ActionRegistry, { id, actionName }: JournalRow, write: PlanWrite): PlanWrite {
  const { action, paramsVersion: version = 1 } = write;
  const { params: stored } = action;
  if (stored === undefined || version === (registry.named(actionName)?.version ?? 1)) return write;
  try {
    // The entry stores the fields of the action's params.
    const params = registry.upcastParams(actionName, {
      version,
      params: JSON.parse(stored) as JsonObject,
    });
    return { ...write, action: { ...action, params: JSON.stringify(params) } };
  } catch (cause) {
    throw new JournalError(id, 'refused', messageOf(cause), { cause });
  }
}

/** Whether the database would refuse the same transaction again. */
function isRefusal({ phase, sqlState }: DriverFailure): boolean {
  if (phase !== 'answered' || sqlState === undefined) return false;
  const meaning = sqlStateMeaning(sqlState);
  return meaning === 'unique' || meaning === 'constraint' || meaning === 'value' || meaning === 'other';
}

function voidPart(entryId: string, shard: ShardIdentifier): JournalError {
  const reason = `its transaction on shard ${shard} was fenced and can never be applied`;
  return new JournalError(entryId, 'void', reason);
}

function lostLease(entryId: string): JournalError {
  return new JournalError(entryId, 'leased', 'its lease expired, and another process may be working on it');
}
