import type { ModelDescriptor } from '../domain/descriptor.js';
import type { Entity } from '../domain/entity.js';
import type { CallOptions, ShardDatabase, Statement } from '../sharding/shard-database.js';
import { arrayLiteral } from './column-codec.js';
import type { EventCatalog } from './event-catalog.js';
import { FlushStatements } from './flush-statement.js';
import type { ActionRow } from './plan-write.js';
import { RowCodec } from './row-codec.js';
import type { AttemptOutcome, FlushOutcome, FlushRequest, ShardStore } from './shard-store.js';
import { quoteIdentifier } from './sql-identifier.js';

/** The `ShardStore` of a PostgreSQL database, embedded or not. */
export class SqlShardStore implements ShardStore {
  readonly #database: ShardDatabase;
  readonly #namespace: string;
  readonly #statements: FlushStatements;

  constructor(database: ShardDatabase, namespace: string, events: EventCatalog) {
    this.#database = database;
    this.#namespace = namespace;
    this.#statements = new FlushStatements(database.shard, namespace, events);
  }

  async flush(request: FlushRequest, options?: CallOptions): Promise<readonly FlushOutcome[]> {
    const { rows } = await this.#database.query(this.#statements.make(request), options);
    return outcomes(request.plans.length, String(rows[0]?.[0] ?? ''));
  }

  async read<M extends Entity>(
    model: ModelDescriptor<M>,
    ids: readonly string[],
    options?: CallOptions,
  ): Promise<readonly M[]> {
    const codec = RowCodec.of(model);
    const { rows } = await this.#database.query(readStatement(codec, ids), options);
    return rows.map((row) => codec.decode(row));
  }

  async fence(action: Omit<ActionRow, 'params' | 'result'>, options?: CallOptions): Promise<AttemptOutcome> {
    const { id, name, principal, startedDate, completedDate } = action;
    const values = [id, this.#namespace, name, principal, startedDate, completedDate];
    const { rowCount } = await this.#database.query({ ...FENCE, values }, options);
    if (rowCount > 0) return 'void';
    const { rows } = await this.#database.query({ ...STATUS, values: [id] }, options);
    return rows[0]?.[0] === 'committed' ? 'committed' : 'void';
  }
}

/** The row goes in unless the attempt's own is there; waits for a transaction that is about to write it. */
const FENCE = {
  name: 'fw_fence',
  text:
    'INSERT INTO eventlog.actions (id, status, namespace, name, principal, started_date, completed_date) ' +
    "VALUES ($1, 'void', $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING id",
};

const STATUS = { name: 'fw_action_status', text: 'SELECT status FROM eventlog.actions WHERE id = $1' };

type NamedText = Pick<Statement, 'text' | 'name'>;

const readTexts = new WeakMap<RowCodec, { readonly one: NamedText; readonly many: NamedText }>();
let readTextCount = 0;

/** One id travels alone: the planner knows best what to do with an equality. */
function readStatement(codec: RowCodec, ids: readonly string[]): Statement {
  let texts = readTexts.get(codec);
  if (texts === undefined) {
    const columns = codec.columns.map(({ descriptor }) => quoteIdentifier(descriptor.column)).join(', ');
    const select = `SELECT ${columns} FROM ${quoteIdentifier(codec.model.table)} WHERE id = `;
    readTextCount += 1;
    texts = {
      one: { name: `fw_read_${readTextCount}`, text: `${select}$1` },
      many: { name: `fw_reads_${readTextCount}`, text: `${select}ANY ($1::uuid[])` },
    };
    readTexts.set(codec, texts);
  }
  return ids.length === 1 ? { ...texts.one, values: ids } : { ...texts.many, values: [arrayLiteral(ids)] };
}

/** `applied` lists plan numbers from 1, separated by commas. */
function outcomes(count: number, applied: string): readonly FlushOutcome[] {
  const result = new Array<FlushOutcome>(count).fill('left-out');
  if (applied === '') return result;
  for (const plan of applied.split(',')) result[Number(plan) - 1] = 'applied';
  return result;
}
