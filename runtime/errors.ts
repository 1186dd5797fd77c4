/**
 * Every error that this package throws deliberately. Each class has a literal `code`: callers branch on the code (or
 * the class), never on the text. `docs/errors.md` has a section per code.
 */

import type { ErrorCode } from './error-kinds.js';

export type { ErrorCode } from './error-kinds.js';

/** Base class of every error that this package throws deliberately. */
export abstract class FwError extends Error {
  abstract readonly code: ErrorCode;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    // An object without a prototype has no text of its own.
    return Object.prototype.toString.call(error);
  }
}

/** An argument is invalid, whatever the state of the models: a negative amount (HTTP 400). Nothing was written. */
export class ValidationError extends FwError {
  readonly code = 'FW_VALIDATION';
  /** Name of the invalid field or parameter, if any. */
  readonly field: string | undefined;

  constructor(message: string, options?: ErrorOptions & { readonly field?: string }) {
    super(message, options);
    this.field = options?.field;
  }
}

/** The current, committed state of a model refuses the request (HTTP 409). Nothing was written. */
export class RefusedError extends FwError {
  readonly code = 'FW_REFUSED';
}

/**
 * A refusal with the application's own code: `class QuotaError extends ApplicationError { readonly code =
 * 'QUOTA_EXCEEDED'; }`. Thrown by `perform` or a model, it fails the action like a `RefusedError`: nothing is written,
 * nothing is retried, and a saga treats it as a refusal. HTTP answers with the status and title that the server's
 * `problems` define for the code; without an entry with 409.
 */
export abstract class ApplicationError extends Error {
  /** Upper-case letters, digits and underscores. The prefixes `FW_` and `HTTP_` are reserved for the framework. */
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A condition of the caller (`ifVersion`, `If-Match`) is not satisfied (HTTP 412). Nothing was written. */
export class PreconditionFailedError extends FwError {
  readonly code = 'FW_PRECONDITION_FAILED';
}

/** The caller has no valid credentials. Thrown by authenticators, before the action is started (HTTP 401). */
export class UnauthenticatedError extends FwError {
  readonly code = 'FW_UNAUTHENTICATED';
  /** Value of `WWW-Authenticate`. Default `Bearer`. */
  readonly challenge: string;

  constructor(message: string, options?: ErrorOptions & { readonly challenge?: string }) {
    super(message, options);
    this.challenge = options?.challenge ?? 'Bearer';
  }
}

/** The rule of the action (`@Allow`) refuses the caller (HTTP 403). Nothing was written. */
export class ForbiddenError extends FwError {
  readonly code = 'FW_FORBIDDEN';
  /** The principal that the rule of an action refused. Undefined: another check refused it. */
  readonly principal: string | undefined;

  constructor(message: string, options?: ErrorOptions & { readonly principal?: string }) {
    super(message, options);
    this.principal = options?.principal;
  }
}

/** The caller exceeds its request limit (HTTP 429). The action was not started. */
export class TooManyRequestsError extends FwError {
  readonly code = 'FW_TOO_MANY_REQUESTS';
  /** Milliseconds after which the next request will probably be accepted. */
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The keys of a token's issuer are not available, so the token cannot be verified (HTTP 503). */
export class IssuerUnavailableError extends FwError {
  readonly code = 'FW_ISSUER_UNAVAILABLE';
  /** Milliseconds after which a retry may succeed. */
  readonly retryAfterMs: number;

  constructor(message: string, options?: ErrorOptions & { readonly retryAfterMs?: number }) {
    super(message, options);
    this.retryAfterMs = options?.retryAfterMs ?? 1_000;
  }
}

/** `getById` or `getByKey` found no row, or one that is hidden as deleted. Nothing was written. */
export class ModelNotFoundError extends FwError {
  readonly code = 'FW_MODEL_NOT_FOUND';
  readonly modelName: string;
  /** The requested id; for `getByKey` the fields and values of the key. */
  readonly modelId: string;

  constructor(modelName: string, modelId: string) {
    super(`${modelName} ${modelId} does not exist`);
    this.modelName = modelName;
    this.modelId = modelId;
  }
}

/**
 * The plan changes several shards, and `allowCrossShard` is not true or the execution has an idempotency key. Nothing was
 * written.
 */
export class CrossShardException extends FwError {
  readonly code = 'FW_CROSS_SHARD';
  /** The shards that the plan touches, in staging order, as `(group, member)`. */
  readonly shards: readonly string[];

  constructor(actionName: string, shards: readonly string[]) {
    super(
      `${actionName} touches more than one shard: ${shards.join(', ')}. ` +
        'Nothing was written. Split the action, or run it with allowCrossShard(true) and without an idempotency key.',
    );
    this.shards = shards;
  }
}

/**
 * An allowed cross-shard plan failed after at least one shard transaction was sent. The `committed` ones stay
 * committed; `cause` is the failure of the one in `failed`; those in `notStarted` were never sent. `openEntry` is the
 * journal's entry if the missing ones may still be applied.
 */
export class CrossShardPartialError extends FwError {
  readonly code = 'FW_CROSS_SHARD_PARTIAL';
  readonly committed: readonly PartOutcome[];
  readonly failed: PartOutcome;
  readonly notStarted: readonly string[];
  /**
   * Id of the plan's entry in the cross-shard journal, if the entry is still open: the outcome of `failed` is unknown,
   * or the entry could not be closed. Recovery may still apply the missing changes. Undefined: the entry is closed, and
   * nothing more will be applied.
   */
  readonly openEntry: string | undefined;

  constructor(
    actionName: string,
    parts: {
      readonly committed: readonly PartOutcome[];
      readonly failed: PartOutcome;
      readonly notStarted: readonly string[];
      readonly openEntry?: string | undefined;
    },
    cause: unknown,
  ) {
    super(
      `${actionName} committed on ${parts.committed.map((part) => part.shard).join(', ')} ` +
        `and failed on ${parts.failed.shard}: ${messageOf(cause)}`,
      { cause },
    );
    this.committed = parts.committed;
    this.failed = parts.failed;
    this.notStarted = parts.notStarted;
    this.openEntry = parts.openEntry;
  }
}

/** One shard transaction of a cross-shard plan. */
interface PartOutcome {
  /** The shard as `(group, member)`. */
  readonly shard: string;
  /** Its action id. */
  readonly actionId: string;
}

/** Other updates were applied first, in every attempt with fresh reads. Nothing was written. */
export class StaleModelError extends FwError {
  readonly code = 'FW_STALE_MODEL';

  constructor(actionName: string, models: string) {
    super(`${actionName} conflicts with another update of ${models}; read again and retry`);
  }
}

/** A row stayed locked by another transaction, or a statement took too long: see `cause`. Nothing was written. */
export class RowBusyError extends FwError {
  readonly code = 'FW_ROW_BUSY';
}

/** A unique constraint of a model table refused the plan. Nothing was written. */
export class UniqueViolationError extends FwError {
  readonly code = 'FW_UNIQUE_VIOLATION';
  readonly table: string | undefined;
  readonly constraint: string | undefined;
  /** Fields of the natural key (`@Key`). Empty for another constraint. */
  readonly fields: readonly string[];

  constructor(
    message: string,
    options: ErrorOptions & {
      readonly table?: string | undefined;
      readonly constraint?: string | undefined;
      readonly fields?: readonly string[];
    },
  ) {
    super(message, options);
    this.table = options.table;
    this.constraint = options.constraint;
    this.fields = options.fields ?? [];
  }
}

/** Two models of one plan would have the same natural key. Nothing was written. */
export class DuplicateKeyError extends FwError {
  readonly code = 'FW_DUPLICATE_KEY';
  /** Name of the model class. */
  readonly modelName: string;
  /** Ids of the two models. */
  readonly ids: readonly [string, string];

  constructor(
    message: string,
    facts: { readonly modelName: string; readonly ids: readonly [string, string] },
  ) {
    super(message);
    this.modelName = facts.modelName;
    this.ids = facts.ids;
  }
}

/** A check, foreign-key or not-null constraint refused the plan, which is not retried. Nothing was written. */
export class ConstraintViolationError extends FwError {
  readonly code = 'FW_CONSTRAINT_VIOLATION';
  readonly table: string | undefined;
  readonly constraint: string | undefined;

  constructor(
    message: string,
    options: ErrorOptions & { readonly table?: string | undefined; readonly constraint?: string | undefined },
  ) {
    super(message, options);
    this.table = options.table;
    this.constraint = options.constraint;
  }
}

/** An id names a shard that the configuration does not list. No query was sent, also not to the default shard. */
export class UnknownShardError extends FwError {
  readonly code = 'FW_UNKNOWN_SHARD';
  readonly shard: string;

  constructor(shard: string) {
    super(`Shard ${shard} is not configured`);
    this.shard = shard;
  }
}

/**
 * The shard's database cannot be reached, refuses the connection, is starting up, shutting down or read-only, or is
 * not in service in this process. Nothing was written; other shards are not affected.
 */
export class ShardUnavailableError extends FwError {
  readonly code = 'FW_SHARD_UNAVAILABLE';
  readonly shard: string;
  /** Milliseconds after which a retry may succeed. */
  readonly retryAfterMs: number;

  constructor(shard: string, reason: string, options?: ErrorOptions & { readonly retryAfterMs?: number }) {
    super(`Shard ${shard} is unavailable: ${reason}`, options);
    this.shard = shard;
    this.retryAfterMs = options?.retryAfterMs ?? 1_000;
  }
}

/** The shard's queue is full or no connection became free in time. Nothing was written. */
export class ShardBusyError extends FwError {
  readonly code = 'FW_SHARD_BUSY';
  readonly shard: string;
  /** Milliseconds after which a retry may succeed. */
  readonly retryAfterMs: number;

  constructor(shard: string, reason: string, options?: ErrorOptions & { readonly retryAfterMs?: number }) {
    super(`Shard ${shard} is busy: ${reason}`, options);
    this.shard = shard;
    this.retryAfterMs = options?.retryAfterMs ?? 1_000;
  }
}

/**
 * A database is another shard than the configured one (swapped URLs): it was not changed, and the others are served. Or
 * the databases know another default shard: the process does not start.
 */
export class ShardIdentityError extends FwError {
  readonly code = 'FW_SHARD_IDENTITY';
}

/** A database belongs to a cluster with another default shard than the configured one. */
export class DefaultShardError extends ShardIdentityError {
  constructor(
    shard: string,
    { stored, configured }: { readonly stored: string; readonly configured: string },
  ) {
    super(
      `Shard ${shard} belongs to a cluster whose default shard is ${stored}, but fw.sharding.default-shard is ` +
        `${configured}: idempotency keys and models without a sharded id are on ${stored}. Configure ${stored}, or move ` +
        'them first (docs/operations.md, Moving the default shard).',
    );
  }
}

/**
 * The connection was lost in flight, or a statement still waited at the deadline (for a locked table, say), and the
 * attempt could not be fenced in time: it may or may not have been applied. `executor.outcomeOf(actionId)` returns the
 * outcome later.
 */
export class CommitOutcomeUnknownError extends FwError {
  readonly code = 'FW_COMMIT_OUTCOME_UNKNOWN';
  readonly actionId: string;

  constructor(actionId: string, options?: ErrorOptions) {
    super(`The outcome of action ${actionId} could not be determined before the deadline`, options);
    this.actionId = actionId;
  }
}

/**
 * The outcome of an action is no longer known: retention has deleted the audit trail of its time, which is complete
 * only from `completeFrom` on. Also thrown for an action that was never sent, if its id is that old.
 */
export class OutcomeForgottenError extends FwError {
  readonly code = 'FW_OUTCOME_FORGOTTEN';
  readonly actionId: string;
  /** The audit trail is complete from this time on. */
  readonly completeFrom: Date;

  constructor(actionId: string, completeFrom: Date) {
    super(
      `The outcome of action ${actionId} is no longer known: the audit trail is complete only from ${completeFrom.toISOString()} on`,
    );
    this.actionId = actionId;
    this.completeFrom = completeFrom;
  }
}

/** The key was used before with another request, which remains in effect (HTTP 422). This one wrote nothing. */
export class IdempotencyKeyReusedError extends FwError {
  readonly code = 'FW_KEY_REUSED';
}

/** Another execution under the same key is still running, and may commit (HTTP 409). This one wrote nothing. */
export class IdempotencyKeyBusyError extends FwError {
  readonly code = 'FW_KEY_BUSY';
}

/** Why an entry of the cross-shard journal is not processed. */
type JournalRefusal =
  /** There is no such entry. */
  | 'unknown'
  /** It is closed: its caller was answered, or it was finished. */
  | 'closed'
  /** Another process is working on it; try later. */
  | 'leased'
  /** A shard transaction was fenced: it can never be applied. */
  | 'void'
  /** A model of a missing shard transaction has changed since, or was added. */
  | 'stale'
  /**
   * The database permanently refuses a missing shard transaction, or the recorded params cannot be upcast; see `cause`.
   */
  | 'refused'
  /** It contains params of a version that only a newer process knows. */
  | 'newer';

/**
 * The cross-shard journal refuses to finish or flag an entry. Applied shard transactions stay applied; the entry is
 * unchanged.
 */
export class JournalError extends FwError {
  readonly code = 'FW_JOURNAL';
  readonly entryId: string;
  readonly reason: JournalRefusal;

  constructor(entryId: string, reason: JournalRefusal, message: string, options?: ErrorOptions) {
    super(`Journal entry ${entryId}: ${message}`, options);
    this.entryId = entryId;
    this.reason = reason;
  }
}

/** Another holder kept the lock for longer than the caller's `waitMs`. The protected work did not start. */
export class LockTimeoutError extends FwError {
  readonly code = 'FW_LOCK_TIMEOUT';
  readonly lockName: string;

  constructor(lockName: string, waitMs: number, options?: ErrorOptions) {
    super(`The lock ${lockName} was not released within ${waitMs} ms`, options);
    this.lockName = lockName;
  }
}

/** The lock was held for longer than `holdMs`: work under it may have overlapped with another holder's. */
export class LockLostError extends FwError {
  readonly code = 'FW_LOCK_LOST';
  readonly lockName: string;

  constructor(lockName: string, options?: ErrorOptions) {
    super(`The lock ${lockName} was lost: its hold time expired before its release`, options);
    this.lockName = lockName;
  }
}

/** The deadline passed before a statement was sent, or a query was not answered in time. Nothing was written. */
export class DeadlineExceededError extends FwError {
  readonly code = 'FW_DEADLINE_EXCEEDED';
}

/** The caller's AbortSignal fired before any statement was sent. Nothing was written. */
export class AbortedError extends FwError {
  readonly code = 'FW_ABORTED';
}

/**
 * Thrown by an event handler whose receiver is down. The attempt does not count; the event is attempted again, in the
 * order of its model, until the receiver answers.
 *
 * @example
 * if (response.status === 503) throw new RetryLater({ afterMs: 60_000 });
 */
export class RetryLater extends FwError {
  readonly code = 'FW_RETRY_LATER';
  /** Pause before the next attempt, in milliseconds. Undefined: it grows with each failure, up to five minutes. */
  readonly afterMs: number | undefined;

  /** @throws ValidationError if `afterMs` is no number from 0 to a day */
  constructor({ afterMs, message = 'the receiver is not available', cause }: RetryLaterOptions = {}) {
    super(message, { cause });
    if (afterMs !== undefined && !(afterMs >= 0 && afterMs <= 86_400_000))
      throw new ValidationError(`afterMs must be from 0 to 86,400,000, got ${afterMs}`);
    this.afterMs = afterMs;
  }
}

/** Options of `RetryLater`. */
interface RetryLaterOptions {
  /** Pause before the next attempt, in milliseconds, at most a day. Default: it grows, up to five minutes. */
  readonly afterMs?: number;
  /** For the log and for operators. Default: `the receiver is not available`. */
  readonly message?: string;
  readonly cause?: unknown;
}

/** A database error without its own class: a missing table, invalid SQL in a query. Nothing was written. */
export class DatabaseError extends FwError {
  readonly code = 'FW_DATABASE';
  readonly sqlState: string | undefined;

  constructor(message: string, options: ErrorOptions & { readonly sqlState?: string | undefined }) {
    super(message, options);
    this.sqlState = options.sqlState;
  }
}

/** `perform` tried to write, to lock rows or to open a transaction. The database was not changed. */
export class WriteInPerformError extends FwError {
  readonly code = 'FW_WRITE_IN_PERFORM';
}

/** `perform` called `execute`. Neither action wrote anything. */
export class NestedExecutionError extends FwError {
  readonly code = 'FW_NESTED_EXECUTION';
}

/**
 * The plan was used incorrectly: an id was staged twice, a stored model was added, or the plan was used after
 * `perform`. Or a result cannot be stored under an idempotency key: it holds an instance of a class, a function,
 * `NaN`. Nothing was written.
 */
export class PlanMisuseError extends FwError {
  readonly code = 'FW_PLAN_MISUSE';
}

/** The class given to `execute` is not in the registry. `perform` was not called. */
export class UnknownActionError extends FwError {
  readonly code = 'FW_UNKNOWN_ACTION';
}

/** A model or event class has no descriptor: made without its builder, or not generated. Nothing was written. */
export class UnknownModelError extends FwError {
  readonly code = 'FW_UNKNOWN_MODEL';
}

/** The code was generated for another version of the codegen contract. No database was opened. */
export class CodegenVersionError extends FwError {
  readonly code = 'FW_CODEGEN_VERSION';
}

/** Another process, named in the message, has opened the embedded database's directory. It was not changed. */
export class EmbeddedDatabaseLockedError extends FwError {
  readonly code = 'FW_EMBEDDED_DATABASE_LOCKED';
}

/** A feature needs an optional package that is not installed. No database was opened. */
export class PackageMissingError extends FwError {
  readonly code = 'FW_PACKAGE_MISSING';
  /** Name of the package. */
  readonly packageName: string;

  /**
   * @param what the feature that needs the package, the subject of the message
   * @param version the version with which this package was tested
   */
  constructor(what: string, packageName: string, version: string) {
    super(`${what} needs the package ${packageName}. Run: npm install ${packageName}@${version}`);
    this.packageName = packageName;
  }
}

/** The server is older than PostgreSQL 14, or can lose acknowledged commits. The database was not changed. */
export class UnsafeServerError extends FwError {
  readonly code = 'FW_UNSAFE_SERVER';
}

/** A running process refuses another topology and keeps its own unchanged. No request was affected. */
export class ReloadRefusedError extends FwError {
  readonly code = 'FW_RELOAD_REFUSED';
  /**
   * Whether only an added shard is not ready, or the new settings of a pool do not open a connection: the same topology
   * may be accepted later.
   */
  readonly mayPass: boolean;

  constructor(reason: string, options: ErrorOptions & { readonly mayPass?: boolean } = {}) {
    super(`The new topology is refused: ${reason}`, options);
    this.mayPass = options.mayPass ?? false;
  }
}

/** A migration failed (it was rolled back, earlier ones stay), was changed after it was applied, or is missing. */
export class MigrationError extends FwError {
  readonly code = 'FW_MIGRATION';
}

/** A shard has already run a later migration of the same table. It was not changed; the other shards are served. */
export class MigrationOrderError extends FwError {
  readonly code = 'FW_MIGRATION_ORDER';
  readonly shard: string;
  /** Name of the missing migration. */
  readonly pending: string;
  /** Name of the later one. */
  readonly applied: string;
  /** Tables that both touch; `unknown` if one of them does not declare its tables. */
  readonly tables: readonly string[] | 'unknown';

  constructor(
    reason: string,
    {
      shard,
      pending,
      applied,
      tables,
    }: Pick<MigrationOrderError, 'shard' | 'pending' | 'applied' | 'tables'>,
  ) {
    super(`Shard ${shard} cannot be migrated: ${reason}`);
    this.shard = shard;
    this.pending = pending;
    this.applied = applied;
    this.tables = tables;
  }
}

/**
 * The outbox was written on another server, so its transaction ids, which order it, are meaningless on this one.
 * Delivery on this shard stops until `rebase` opens a new epoch; no event is lost, and actions continue.
 */
export class EventEpochError extends FwError {
  readonly code = 'FW_EVENT_EPOCH';
  readonly shard: string;
  /** Identifier of the server to which the transaction ids belong. */
  readonly expected: string;
  /** Identifier of this server. */
  readonly found: string;

  constructor(shard: string, expected: string, found: string) {
    super(
      `The outbox of shard ${shard} was written on the server with system identifier ${expected}, but this server has ${found}: ` +
        'if the shard was restored or moved, stop all writes to the old server, then run fw-gen events rebase',
    );
    this.shard = shard;
    this.expected = expected;
    this.found = found;
  }
}

/** The application has no handler of this name, or it has never run on any shard. Nothing was changed. */
export class UnknownHandlerError extends FwError {
  readonly code = 'FW_UNKNOWN_HANDLER';
}

/** The executor, registry or server was closed. Nothing was written. */
export class ClosedError extends FwError {
  readonly code = 'FW_CLOSED';
}
