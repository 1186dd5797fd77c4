import type { Caller } from '../domain/principal.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { ModelNotFoundError, ValidationError } from '../errors.js';
import type { ActionExecutor } from '../execution/action-executor.js';
import type { PartialPage } from '../persistence/read/list-reader.js';
import type { PageRequest } from '../persistence/read/page.js';
import type { QueryOptions } from '../persistence/read/query-options.js';
import type { RepositoryContext } from '../persistence/read/repository.js';
import { readFailure } from './own-model.js';
import { AbandonAction, RetryAction } from './saga-actions.js';
import type { SagaRun, SagaRunState } from './saga-run.js';
import { type SagaFilter, SagaRunRepository, type StuckReason } from './saga-run-repository.js';
import type { SagaFailure } from './saga-step.js';

/** The progress of a saga. */
export interface SagaSummary {
  /** Id of its state model. */
  readonly id: string;
  readonly shard: ShardIdentifier;
  readonly saga: string;
  readonly state: SagaRunState;
  /** State of its model: the current step, or the end. */
  readonly step: string;
  /** Deadline of the current step; undefined once the saga has ended. */
  readonly deadline: Date | undefined;
  /** Why the saga makes no progress; undefined if it does. */
  readonly stuck: StuckReason | undefined;
  /** The last failure of a step: it led to a compensation, or parked the saga. */
  readonly failure: SagaFailure | undefined;
  readonly startedDate: Date;
  /** When the saga last moved, or was parked or notified. */
  readonly changedDate: Date;
}

/** Which sagas to list, and which page of them. */
export interface SagaListOptions extends SagaFilter, PageRequest {
  /** Time limit of each shard, in milliseconds. Default 1,800. */
  readonly timeoutMs?: number | undefined;
}

/** Sagas of many shards; `failures` names the shards whose sagas are missing. */
export type SagaPage = PartialPage<SagaSummary>;

/**
 * Lists sagas over all shards, oldest first. A shard that does not answer is named among the page's failures.
 *
 * @throws ValidationError for an invalid limit or cursor, and the shard's error if no shard answers
 */
export async function listSagas(
  context: RepositoryContext,
  { limit, cursor, timeoutMs, ...filter }: SagaListOptions = {},
): Promise<SagaPage> {
  const runs = new SagaRunRepository(context);
  const page = await runs.listed({ limit, cursor }, filter, { timeoutMs });
  return { ...page, items: await summariesOf(runs, page.items, { timeoutMs }) };
}

/**
 * One saga.
 *
 * @throws ModelNotFoundError if there is none @throws UnknownShardError if its shard is not configured
 * @throws ValidationError for an invalid id
 */
export async function showSaga(context: RepositoryContext, id: string): Promise<SagaSummary> {
  const runs = new SagaRunRepository(context);
  const [summary] = await summariesOf(runs, [await runs.getById(id)]);
  if (summary === undefined) throw new ModelNotFoundError('SagaRun', id);
  return summary;
}

const LONGEST_NOTE = 2_000;

/** @throws ValidationError unless the note has 1 to 2,000 characters */
export function requireNote(note: string): void {
  if (note.trim() !== '' && note.length <= LONGEST_NOTE) return;
  throw new ValidationError(`A note has 1 to ${LONGEST_NOTE} characters`, { field: 'note' });
}

/** The sagas of an application, on all shards. */
export class Sagas {
  readonly #context: RepositoryContext;
  readonly #executor: ActionExecutor;

  constructor(context: RepositoryContext, executor: ActionExecutor) {
    this.#context = context;
    this.#executor = executor;
  }

  /** See `listSagas`. */
  list(options: SagaListOptions = {}): Promise<SagaPage> {
    return listSagas(this.#context, options);
  }

  /** See `showSaga`. */
  show(id: string): Promise<SagaSummary> {
    return showSaga(this.#context, id);
  }

  /**
   * Retries a parked or overdue saga, with the full time limit of its step. Later steps run as `principal`. False for a
   * saga that is neither parked nor overdue, or is blocked by a dead letter.
   *
   * @throws ModelNotFoundError if there is no such saga
   */
  async retry(principal: Caller, id: string): Promise<boolean> {
    const { stuck } = await this.show(id);
    if (stuck === 'dead-letter') return false;
    return this.#executor.execute(principal, RetryAction, { saga: id });
  }

  /**
   * Ends a saga in its current state: it takes no further step and no compensation. The effects of its steps stay, its
   * model keeps its state, and the failure is `ABANDONED` with the note. The saga's handler abandons a step in progress
   * on another shard. False for a saga that has ended.
   *
   * @param note the reason, 1 to 2,000 characters
   * @throws ModelNotFoundError if there is no such saga
   * @throws ValidationError for an invalid note
   */
  abandon(principal: Caller, id: string, note: string): Promise<boolean> {
    requireNote(note);
    return this.#executor.execute(principal, AbandonAction, { saga: id, note });
  }
}

async function summariesOf(
  repository: SagaRunRepository,
  runs: readonly SagaRun[],
  options: QueryOptions = {},
): Promise<readonly SagaSummary[]> {
  const shards = new Set(runs.map(({ id }) => id.resolveShardIdentifier()));
  const reasons = await Promise.all(
    [...shards].map((shard) => {
      const own = runs.filter(({ id }) => id.resolveShardIdentifier() === shard);
      return repository.stuckReasons(
        shard,
        own.map(({ id }) => id.getValue()),
        options,
      );
    }),
  );
  const stuck = new Map(reasons.flatMap((each) => [...each]));
  return runs.map((run) => summaryOf(run, stuck.get(run.id.getValue())));
}

function summaryOf(run: SagaRun, stuck: StuckReason | undefined): SagaSummary {
  return {
    id: run.id.getValue(),
    shard: run.id.resolveShardIdentifier(),
    saga: run.saga,
    state: run.state,
    step: run.step,
    deadline: run.deadline,
    stuck,
    failure: readFailure(run),
    startedDate: run.createdDate,
    changedDate: run.updatedDate,
  };
}
