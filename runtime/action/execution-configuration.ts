import type { Id } from '../domain/id.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { isTraceParent } from '../domain/trace-parent.js';
import { ValidationError } from '../errors.js';
import type { ExecutionReport } from './execution-report.js';

/**
 * Sets one of the runtime's own idempotency keys, made of at least two parts: its purpose and an id. Parts are
 * separated by spaces, which callers' keys cannot contain.
 */
export let runUnderOwnKey: (
  builder: ExecutionConfigurationBuilder,
  parts: readonly [string, string, ...string[]],
  options: OwnKeyOptions,
) => ExecutionConfigurationBuilder;

/** The settings of one execution. Immutable; created by `ExecutionConfiguration.Builder`. */
export class ExecutionConfiguration {
  /** Whether the plan may change several shards, each of which commits independently. Default false. */
  readonly allowCrossShard: boolean = false;
  /** Deadline over all attempts, in milliseconds. Default: the executor's (1,800). */
  readonly timeoutMs: number | undefined = undefined;
  /** Attempts, including the first. Default: the executor's (4). */
  readonly maximumAttempts: number | undefined = undefined;
  /** Ends the execution when aborted, as long as nothing was sent. */
  readonly signal: AbortSignal | undefined = undefined;
  /** Refuses the execution unless the staged update of this id starts from one of these versions. */
  readonly ifVersion:
    | { readonly modelName: string; readonly id: string; readonly versions: readonly number[] }
    | undefined = undefined;
  /** W3C `traceparent` of the caller, stored with every event. */
  readonly traceContext: string | undefined = undefined;
  /** Whether it may start from states that other executions have staged and not yet committed. Default true. */
  readonly chaining: boolean = true;
  /** A repeat under this key returns the first result instead of taking effect again. */
  readonly idempotencyKey: string | undefined = undefined;
  /** The shard where a repeat looks for the key first. Default: the shard of the first sharded id among the params. */
  readonly idempotencyHome: ShardIdentifier | undefined = undefined;
  /** Whether the key is deleted after the executor's retention. Default true. */
  readonly idempotencyExpires: boolean = true;
  /** Identifies the request under the key. Default: its params. */
  readonly idempotencyRequest: string | undefined = undefined;
  /** Called once with the report, when the execution has ended. */
  readonly onReport: ((report: ExecutionReport) => void) | undefined = undefined;

  /** @internal use `ExecutionConfiguration.Builder` */
  private constructor(settings: Settings) {
    Object.freeze(Object.assign(this, settings));
  }

  static readonly Builder: { executionConfiguration(): ExecutionConfigurationBuilder } = {
    executionConfiguration: () =>
      new ExecutionConfigurationBuilder((settings) => new ExecutionConfiguration(settings)),
  };
}

/** Home and expiry of an idempotency key. */
interface IdempotencyKeyOptions {
  /** The shard where a repeat looks for the key first. Default: the shard of the first sharded id among the params. */
  readonly home?: ShardIdentifier;
  /** Whether it is deleted after the executor's retention. Default true. */
  readonly expires?: boolean;
}

/** Options of the runtime's own keys. */
interface OwnKeyOptions extends IdempotencyKeyOptions {
  /** Identifies the request under the key. Default: its params. */
  readonly request?: string;
}

type Settings = { -readonly [Key in keyof ExecutionConfiguration]?: ExecutionConfiguration[Key] };

/** Builder of the settings: `ExecutionConfiguration.Builder.executionConfiguration().allowCrossShard(true).build()`. */
export class ExecutionConfigurationBuilder {
  readonly #settings: Settings = {};
  readonly #make: (settings: Settings) => ExecutionConfiguration;

  static {
    runUnderOwnKey = (builder, parts, options) => builder.#runUnder(parts.join(' '), options);
  }

  /** @internal use `ExecutionConfiguration.Builder` */
  constructor(make: (settings: Settings) => ExecutionConfiguration) {
    this.#make = make;
  }

  /** Allows a plan that changes several shards. Default false. */
  allowCrossShard(allowed: boolean): this {
    this.#settings.allowCrossShard = allowed;
    return this;
  }

  /** Deadline over all attempts, in milliseconds. Default 1,800. @throws ValidationError unless positive and finite */
  timeoutMs(milliseconds: number): this {
    if (!(milliseconds > 0 && Number.isFinite(milliseconds))) {
      throw new ValidationError(`timeoutMs must be a positive number of milliseconds, got ${milliseconds}`);
    }
    this.#settings.timeoutMs = milliseconds;
    return this;
  }

  /** Maximum attempts, including the first. Default 4. @throws ValidationError unless an integer of at least 1 */
  maximumAttempts(attempts: number): this {
    if (!Number.isInteger(attempts) || attempts < 1) {
      throw new ValidationError(`maximumAttempts must be an integer of at least 1, got ${attempts}`);
    }
    this.#settings.maximumAttempts = attempts;
    return this;
  }

  /** Ends the execution when aborted, as long as nothing was sent; afterwards the actual outcome is reported. */
  signal(signal: AbortSignal): this {
    this.#settings.signal = signal;
    return this;
  }

  /** Refuses with `PreconditionFailedError` unless the update of this id starts from one of these versions. */
  ifVersion(id: Id<unknown>, ...versions: readonly number[]): this {
    this.#settings.ifVersion = { modelName: id.modelName, id: id.getValue(), versions };
    return this;
  }

  /**
   * W3C `traceparent`, stored with every event of the plan; parent of its span. Default: the active span.
   *
   * @throws ValidationError unless it has the 55 characters of version, trace id, parent id and flags
   */
  traceContext(traceparent: string): this {
    if (!isTraceParent(traceparent)) {
      throw new ValidationError('traceContext must be a W3C traceparent of 55 characters', {
        field: 'traceContext',
      });
    }
    this.#settings.traceContext = traceparent;
    return this;
  }

  /**
   * Whether the execution may start from states that other actions of this process have staged and not yet committed;
   * its outcome then waits for theirs. Default true.
   */
  chaining(allowed: boolean): this {
    this.#settings.chaining = allowed;
    return this;
  }

  /**
   * Limits the executions under this key to one effect. The scope is principal, action and key. The key and the result
   * are stored in the plan's own transaction; refusals and failures are not stored.
   *
   * @throws ValidationError unless 1 to 255 visible ASCII characters
   */
  idempotencyKey(key: string, options: IdempotencyKeyOptions = {}): this {
    if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
      throw new ValidationError('An idempotency key must have 1 to 255 visible ASCII characters', {
        field: 'idempotencyKey',
      });
    }
    return this.#runUnder(key, options);
  }

  #runUnder(key: string, { home, expires = true, request }: OwnKeyOptions): this {
    this.#settings.idempotencyKey = key;
    this.#settings.idempotencyHome = home;
    this.#settings.idempotencyExpires = expires;
    this.#settings.idempotencyRequest = request;
    return this;
  }

  /**
   * Sets a listener that is called once with the report of the execution, before the caller is answered. Errors of the
   * listener are ignored, because they must not change the answer.
   */
  onReport(listener: (report: ExecutionReport) => void): this {
    this.#settings.onReport = listener;
    return this;
  }

  build(): ExecutionConfiguration {
    return this.#make(this.#settings);
  }
}
