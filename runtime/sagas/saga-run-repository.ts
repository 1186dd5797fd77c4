import { type RawBuilder, sql } from 'kysely';
import { time } from '../concurrency/time.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { PartialPage } from '../persistence/read/list-reader.js';
import type { PageRequest } from '../persistence/read/page.js';
import type { QueryOptions } from '../persistence/read/query-options.js';
import { Repository, type RepositoryContext } from '../persistence/read/repository.js';
import { type SagaRun, type SagaRunState, sagaRunModel } from './saga-run.js';

/** Selects sagas. Fields combine by AND; an absent field matches all. */
export interface SagaFilter {
  /** The saga's name. */
  readonly saga?: string | undefined;
  readonly state?: SagaRunState | undefined;
  /** State of its model: the current step, or the end. */
  readonly step?: string | undefined;
  /** True: only sagas that do not continue by themselves, or not in time. */
  readonly stuck?: boolean | undefined;
}

/**
 * Why a saga makes no progress: it is parked, its step has exceeded its time, or its handler failed on one of its
 * events. A dead letter comes first, because a retry waits behind it.
 */
export type StuckReason = 'parked' | 'overdue' | 'dead-letter';

/** Usual time until the first attempt of a step, in milliseconds. */
const LATE_MS = 1_000;

export class SagaRunRepository extends Repository<SagaRun> {
  constructor(context: RepositoryContext) {
    super(context, sagaRunModel);
  }

  /** Lists sagas over all shards, oldest first. Shards that do not answer are named. */
  listed(
    request: PageRequest,
    { saga, state, step, stuck = false }: SagaFilter,
    options: QueryOptions,
  ): Promise<PartialPage<SagaRun>> {
    return this.findPartialPage(request, {
      ...options,
      where: (query) => {
        let narrowed = query;
        if (saga !== undefined) narrowed = narrowed.where(sql<boolean>`saga = ${saga}`);
        if (state !== undefined) narrowed = narrowed.where(sql<boolean>`state = ${state}`);
        if (step !== undefined) narrowed = narrowed.where(sql<boolean>`step = ${step}`);
        // The first condition lets the planner use the index of running sagas.
        return stuck
          ? narrowed.where(sql<boolean>`state <> 'ENDED' and ${stuckReason} is not null`)
          : narrowed;
      },
    });
  }

  /** Whether the time of the run's step is over, by the clock of its database. False if the saga has left the step. */
  async isOver({ id, stepNumber }: SagaRun): Promise<boolean> {
    const { rows } = await sql<{ over: boolean | null }>`
      select deadline <= clock_timestamp() as over from eventlog.sagas
      where id = ${id.getValue()}::uuid and step_number = ${stepNumber}`.execute(
      this.queries(id.resolveShardIdentifier()),
    );
    return rows[0]?.over === true;
  }

  /** Whether a step of which this process made its first attempt then has not had its time, although that is over. */
  cameLate({ timeoutMs = 0 }: SagaRun, firstMs: number): boolean {
    return time.nowMs() - firstMs + LATE_MS < timeoutMs;
  }

  /** The stuck ones of these sagas of one shard, with the reasons. */
  async stuckReasons(
    shard: ShardIdentifier,
    ids: readonly string[],
    options: QueryOptions,
  ): Promise<ReadonlyMap<string, StuckReason>> {
    const { rows } = await sql<{ id: string; reason: StuckReason }>`
      select id, ${stuckReason} as reason from eventlog.sagas
      where id = any(${`{${ids.join(',')}}`}::uuid[]) and ${stuckReason} is not null`.execute(
      this.queries(shard, options),
    );
    return new Map(rows.map(({ id, reason }) => [id, reason]));
  }
}

/** Uses the database's clock, as due dates do. Sagas that have ended are never stuck. */
const stuckReason: RawBuilder<StuckReason | null> = sql`case
  when eventlog.sagas.state = 'ENDED' then null
  when exists (select from eventlog.dead_letters as d
    where d.model_id = eventlog.sagas.id::text and d.state <> 'discarded'
      and d.consumer in (select name from eventlog.consumers where handler = eventlog.sagas.saga
        or eventlog.sagas.saga = any(former_names))) then 'dead-letter'
  when eventlog.sagas.state = 'PARKED' then 'parked'
  when eventlog.sagas.deadline < now() then 'overdue'
  end`;
