import { ShardedId } from '../domain/id.js';
import { uuid7 } from '../domain/id-source.js';
import { ownPrincipal, principalName } from '../domain/principal.js';
import { ModelNotFoundError } from '../errors.js';
import type { RepositoryContext } from '../persistence/read/repository.js';
import { insertInto, SCHEDULES } from '../persistence/write/eventlog-tables.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { ABANDON, RETRY } from './saga-actions.js';
import { requireNote, type SagaSummary, showSaga } from './sagas.js';

/** The content of an operator's order. */
export type SagaCommand = { readonly kind: 'retry' } | { readonly kind: 'abandon'; readonly note: string };

/** The progress of an order. */
export interface SagaOrder {
  readonly state: 'pending' | 'running' | 'done' | 'failed' | 'cancelled';
  /** Error message of the last failed attempt. */
  readonly error: string | undefined;
}

/**
 * Orders for sagas from outside of an application. An order is a scheduled action that is due at once: a delivering
 * process runs it once.
 */
export class SagaOrders {
  readonly #context: RepositoryContext;
  readonly #databases: Pick<DatabaseRegistry, 'database'>;

  constructor(context: RepositoryContext, databases: Pick<DatabaseRegistry, 'database'>) {
    this.#context = context;
    this.#databases = databases;
  }

  /** See `showSaga`. */
  show(saga: string): Promise<SagaSummary> {
    return showSaga(this.#context, saga);
  }

  /**
   * Places an order.
   *
   * @param principal the principal of the order and, after a retry, of the following steps. Default: for a retry the
   *   principal and claims of the last step, otherwise `fw:operator`
   * @returns its id
   * @throws ValidationError for an invalid note or principal
   */
  async place(saga: string, wish: SagaCommand, principal?: string): Promise<string> {
    if (wish.kind === 'abandon') requireNote(wish.note);
    const by = principal === undefined ? null : principalName({ name: principal });
    const database = this.#databaseOf(saga);
    const id = uuid7.next(database.shard.bits);
    const { kind, ...facts } = wish;
    const isRetry = kind === 'retry';
    // Events name models in lower case.
    const model = ShardedId.named('SagaRun', saga).getValue();
    const params = JSON.stringify({ saga: model, ...facts });
    const action = isRetry ? RETRY : ABANDON;
    const values = [id, action, params, by, isRetry, model, ownPrincipal('operator').name];
    await database.query({ text: PLACE, values });
    return id;
  }

  /** @throws ModelNotFoundError if there is no order with this id */
  async read(saga: string, order: string): Promise<SagaOrder> {
    const { rows } = await this.#databaseOf(saga).query({ text: READ, values: [order] });
    const [row] = rows;
    if (row === undefined) throw new ModelNotFoundError('SagaOrder', order);
    const [state, error] = row;
    return { state: state as SagaOrder['state'], error: error === null ? undefined : String(error) };
  }

  #databaseOf(saga: string): ShardDatabase {
    return this.#databases.database(ShardedId.named('SagaRun', saga).resolveShardIdentifier());
  }
}

const PLACE = `${insertInto(SCHEDULES, {
  id: '$1::uuid',
  due_date: 'now()',
  next_date: 'now()',
  action_name: '$2',
  params: '$3::jsonb',
  principal: 'coalesce($4, a.principal, $7)',
  claims: 'CASE WHEN $4 IS NULL THEN a.claims END',
  action_id: '$1::uuid',
  created_date: 'now()',
})}
FROM (SELECT) AS one LEFT JOIN LATERAL (SELECT a.principal, a.claims FROM eventlog.events AS e
  JOIN eventlog.actions AS a ON a.id = e.action_id
  WHERE $5::boolean AND e.model_id = $6 ORDER BY e.position DESC LIMIT 1) AS a ON true`;

const READ = 'SELECT state, error_message FROM eventlog.schedules WHERE id = $1';
