import { hash } from 'node:crypto';
import type { ActionDescriptor } from '../../action/action-descriptor.js';
import { memoize } from '../../collections/memoize.js';
import { ShardedId } from '../../domain/id.js';
import { compileOrderedWriter } from '../../domain/json-codec.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { withoutSecrets } from '../../domain/shown-fields.js';
import {
  CommitOutcomeUnknownError,
  IdempotencyKeyBusyError,
  IdempotencyKeyReusedError,
} from '../../errors.js';
import type { ResultJson } from '../../persistence/codec/result-json.js';
import type { ShardStore } from '../../persistence/shard-store.js';
import type { KeyClaim, KeyName, KeyRecord } from '../../persistence/write/idempotency-key.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { publicError } from '../../sharding/public-error.js';
import type { PartResult, Replay } from '../attempt.js';
import { isPassing } from '../execution-errors.js';
import type { KeyRepeats } from './key-repeats.js';

export interface KeyGuardOptions {
  readonly name: KeyName;
  /** Hash of action and params. A different request under the same key is refused. */
  readonly fingerprint: string;
  /** The shard where a repeat looks first. */
  readonly home: ShardIdentifier;
  /** How long the key is kept, by the clock of each database. */
  readonly keepMs: number;
  readonly results: ResultJson;
  readonly store: (shard: ShardIdentifier) => ShardStore;
  readonly remainingMs: () => number;
  readonly repeats: KeyRepeats;
}

/**
 * Limits the executions under one key to one effect. The key is a row in the plan's own transaction on the target
 * shard. If the target is not the key's home, the home stores the target first, so that a repeat finds it; the row on
 * the target decides.
 */
export class KeyGuard {
  readonly #options: KeyGuardOptions;

  constructor(options: KeyGuardOptions) {
    this.#options = options;
  }

  get name(): KeyName {
    return this.#options.name;
  }

  get home(): ShardIdentifier {
    return this.#options.home;
  }

  /** Whether the key must be looked up before `perform`. */
  get isLikelyRepeat(): boolean {
    return this.#options.repeats.areLikely;
  }

  /**
   * The first result, if any: that of the shard of the plan, which the key's home names.
   *
   * @throws IdempotencyKeyReusedError for another request @throws errors of `askShard`
   */
  async lookUp(shard: ShardIdentifier = this.home): Promise<Replay | undefined> {
    const record = await this.#read(shard);
    if (record === undefined) return undefined;
    const { target, result } = record;
    if (shard === this.home && target !== shard) return this.lookUp(target);
    return result === undefined ? undefined : { result: this.#options.results.read(result) };
  }

  /**
   * Looks the key up again after an error: the conflict that refused this execution may be the effect of another
   * execution under the same key, committed after the first look-up. That effect and its key are one commit, so a later
   * look-up finds the key.
   *
   * @returns undefined if the key is free, so that the error is final, or if the error is not a refusal
   * @throws IdempotencyKeyReusedError
   * @throws errors of `askShard`
   */
  lookAgain(error: unknown): Promise<Replay | undefined> | undefined {
    return isPassing(error) ? undefined : this.lookUp();
  }

  /**
   * The key row that the plan's transaction writes on `target`. Encodes the result, so that encoding fails before any
   * write.
   */
  claim(target: ShardIdentifier, result: unknown): KeyClaim {
    const { name, fingerprint, keepMs, results } = this.#options;
    const { principal, operation, key } = name;
    return { principal, operation, key, fingerprint, target, keepMs, result: results.write(result) };
  }

  /**
   * Stores the target shard of the plan on the home shard before the plan is sent.
   *
   * @throws IdempotencyKeyBusyError if the home has already stored another target, where the other plan may still be
   *   applied
   * @throws IdempotencyKeyReusedError for another request
   * @throws errors of `askShard`
   */
  async announce(claim: KeyClaim, actionId: string): Promise<void> {
    const { home, store } = this.#options;
    if (await askShard(home, () => store(home).claimKey(claim, actionId, this.#limits()))) return;
    const record = await this.#read(home);
    const where = record === undefined ? 'another shard' : `shard ${record.target.toString()}`;
    throw new IdempotencyKeyBusyError(`The key is bound to a plan on ${where}`);
  }

  /**
   * Announces a plan's target and sends the plan. If no part of the plan is applied, the announcement is deleted: the
   * next attempt, or a later repeat, may choose another target. If another execution announced the same target
   * meanwhile, its plan may be in flight, so the key stays bound to the target.
   */
  async sendAnnounced(
    claim: KeyClaim,
    actionId: string,
    send: () => Promise<PartResult>,
  ): Promise<PartResult> {
    if (claim.target === this.home) return send();
    await this.announce(claim, actionId);
    try {
      const result = await send();
      if (result.kind === 'retry') await this.#withdraw(actionId);
      return result;
    } catch (error) {
      if (!(error instanceof CommitOutcomeUnknownError)) await this.#withdraw(actionId);
      throw error;
    }
  }

  /** If this fails, the key stays bound to its target, where a repeat may still run the plan. */
  async #withdraw(actionId: string): Promise<void> {
    const { home, name, store } = this.#options;
    await store(home)
      .releaseKey(name, actionId, this.#limits())
      .catch(() => {});
  }

  async #read(shard: ShardIdentifier): Promise<KeyRecord | undefined> {
    const { name, fingerprint, store, repeats } = this.#options;
    const record = await askShard(shard, () => store(shard).readKey(name, this.#limits()));
    repeats.note(record !== undefined);
    if (record === undefined) return undefined;
    if (record.expired) {
      await askShard(shard, () => store(shard).releaseKey(name, undefined, this.#limits()));
      return undefined;
    }
    if (record.fingerprint !== fingerprint) {
      throw new IdempotencyKeyReusedError('This idempotency key was used before with another request');
    }
    return record;
  }

  #limits(): { readonly timeoutMs: number } {
    return { timeoutMs: Math.max(1, this.#options.remainingMs()) };
  }
}

/** Maximum requests to a shard while connections to it fail. */
const ATTEMPTS = 3;

/**
 * Queries the keys of a shard. The requests are idempotent, so a request whose connection was lost is sent again.
 *
 * @throws ShardUnavailableError, ShardBusyError, DeadlineExceededError if the shard does not answer: nothing was applied
 */
async function askShard<T>(shard: ShardIdentifier, ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error;
      const isLost = error.phase === 'in-flight' && error.reason !== 'deadline';
      if (!isLost || attempt === ATTEMPTS) throw publicError(error, shard);
    }
  }
}

const shownParamsWriter = memoize(({ name, params }: ActionDescriptor) =>
  compileOrderedWriter(withoutSecrets(params), name),
);

/**
 * Hash of an action and its params without secret ones, because a short secret can be guessed from a stored hash.
 *
 * @param request replaces the params if given
 */
export function requestFingerprint(action: ActionDescriptor, params: unknown, request?: string): string {
  const json =
    request ??
    (typeof params === 'object' && params !== null ? shownParamsWriter(action)(params) : String(params));
  return hash('sha256', `${action.name}\n${json}`, 'base64url');
}

/** The shard of the first sharded id among the params; the default shard if there is none. */
export function keyHome(
  action: ActionDescriptor,
  params: unknown,
  defaultShard: ShardIdentifier,
): ShardIdentifier {
  if (typeof params !== 'object' || params === null) return defaultShard;
  const values = params as Readonly<Record<string, unknown>>;
  for (const { name } of action.params) {
    const value = values[name];
    if (value instanceof ShardedId) return value.resolveShardIdentifier();
  }
  return defaultShard;
}
