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

/** How far a saga has come. */
export interface SagaSummary {
  /** That of its state model. */
  readonly id: string;
  readonly shard: ShardIdentifier;
  readonly saga: string;
  readonly state: SagaRunState;
  /** State of its model: the step that is being taken, or the end. */
  readonly step: string;
  /** When its time is over; undefined once the saga has ended. */
  readonly deadline: Date | undefined;
  /** Why it does not come on; undefined if it does. */
  readonly stuck: StuckReason | undefined;
  /** Why the last step that failed did: what led to a compensation, or had the saga parked. */
  readonly failure: SagaFailure | undefined;
  readonly startedDate: Date;
  /** When it last moved, or was parked or woken. */
  readonly changedDate: Date;
}

/** Which sagas to list, and which page of them. */
export interface SagaListOptions extends SagaFilter, PageRequest {
  /** Most time that each shard has, in milliseconds. Default 1,800. */
  readonly timeoutMs?: number | undefined;
}

/** Sagas of many shards; `failures` names the shards whose sagas are missing. */
export type SagaPage = PartialPage<SagaSummary>;

/**
 * Lists sagas over all shards, the oldest first. A shard that does not answer is named among the page's failures.
 *
 * @throws ValidationError for a limit or cursor that cannot be, and the shard's error if none answers
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
 */
export async function showSaga(context: RepositoryContext, id: string): Promise<SagaSummary> {
  const runs = new SagaRunRepository(context);
  const [summary] = await summariesOf(runs, [await runs.getById(id)]);
  if (summary === undefined) throw new ModelNotFoundError('SagaRun', id);
  return summary;
}

const LONGEST_NOTE = 2_000;

/** @throws ValidationError unless it has 1 to 2,000 characters */
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

  /**
   * One saga.
   *
   * @throws ModelNotFoundError if there is none @throws UnknownShardError if its shard is not configured
   */
  show(id: string): Promise<SagaSummary> {
    return showSaga(this.#context, id);
  }

  /**
   * Gives a saga that is parked or overdue another try, with the whole time of its step. What follows runs in the name
   * of `principal`. False for a saga that is neither.
   *
   * @throws ModelNotFoundError if there is no such saga
   */
  retry(principal: Caller, id: string): Promise<boolean> {
    return this.#executor.execute(principal, RetryAction, { saga: id });
  }

  /**
   * Ends a saga where it is: it takes no further step, and no compensation. What its steps have done stays, its model
   * keeps its state, and the failure is `ABANDONED` with the note. A step that is under way on another shard is given
   * up there by the saga's handler. False for a saga that has ended.
   *
   * @param note why, 1 to 2,000 characters
   * @throws ModelNotFoundError if there is no such saga @throws ValidationError for another note
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
