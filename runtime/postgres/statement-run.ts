import type { Connection, FieldDef, Submittable } from 'pg';
import { time } from '../concurrency/time.js';
import type { Rows, Statement } from '../sharding/shard-database.js';
import { parserFor, type ValueParser } from '../sharding/value-parsers.js';
import { encodeValues, parseRow, rowsOf, type WireValue } from '../sharding/wire-values.js';

/** Names and parsers of a result's columns. */
export interface Shape {
  readonly columns: readonly string[];
  readonly parsers: readonly ValueParser[];
}

/** A statement that a connection's server has parsed. */
export interface Prepared {
  readonly text: string;
  /**
   * Unknown until the first result. The server refuses to run the statement once its result would have other columns.
   */
  shape: Shape | undefined;
}

/** Why a result cannot be parsed. */
export interface Unreadable {
  readonly error: unknown;
}

/** Callbacks of a run. */
export interface RunOutcome {
  /** All earlier statements have been answered. */
  next(): void;
  /** The server is ready for the next statement. `unreadable`: a value of the result cannot be parsed. */
  answered(rows: Rows, unreadable?: Unreadable): void;
  /** The server refused (it is not ready for the next statement yet), or the connection was lost. */
  failed(error: Error): void;
}

/** Options of a run. */
export interface RunManner {
  readonly prepared: Prepared | undefined;
  /** A statement to run before, in the same implicit transaction; its result is ignored. */
  readonly prelude: string | undefined;
  /** Whether to time the execution separately from the commit that follows it. */
  readonly isTimed: boolean;
}

/** The same statement, which the server parses again. */
export function unnamed({ text, values }: Statement): Statement {
  return { text, values };
}

const NO_SHAPE: Shape = { columns: [], parsers: [] };

interface CommandComplete {
  readonly text: string;
}

interface DataRow {
  readonly fields: readonly (string | null)[];
}

interface RowDescription {
  readonly fields: readonly FieldDef[];
}

/** What the server answers to a statement. */
class RunResult {
  /** Names and parsers of its columns. */
  shape: Shape;
  tag = '';
  unreadable: Unreadable | undefined;
  /** When the statement had been executed, on the clock of `time.nowMs()`; undefined if it is not timed. */
  executedAt: number | undefined;
  readonly #rows: unknown[][] = [];

  constructor(shape: Shape) {
    this.shape = shape;
  }

  add(fields: DataRow['fields']): void {
    if (this.unreadable !== undefined) return;
    try {
      this.#rows.push(parseRow(fields, this.shape.parsers));
    } catch (error) {
      this.unreadable = { error };
    }
  }

  get rows(): Rows {
    return rowsOf(this.tag, this.shape.columns, this.#rows);
  }
}

/**
 * Runs one statement in node-postgres, in place of its `Query`: always by the extended protocol (which accepts one
 * statement only), with rows as arrays and our own parsers, and without requesting the columns of a prepared statement
 * again.
 */
export class StatementRun implements Submittable {
  /** Read by node-postgres. */
  readonly name: string;
  /** Read by node-postgres. */
  readonly text: string;
  readonly #values: WireValue[];
  readonly #manner: RunManner;
  readonly #outcome: RunOutcome;
  #isSent = false;
  /** True until the prelude has been answered. */
  inPrelude: boolean;
  readonly result: RunResult;

  constructor(statement: Statement, manner: RunManner, outcome: RunOutcome) {
    this.name = statement.name ?? '';
    this.text = statement.text;
    this.#values = encodeValues(statement.values);
    this.#manner = manner;
    this.inPrelude = manner.prelude !== undefined;
    this.result = new RunResult(manner.prepared?.shape ?? NO_SHAPE);
    this.#outcome = outcome;
  }

  /** Called by node-postgres when all earlier statements have been answered. */
  submit(connection: Connection): void {
    this.#outcome.next();
    if (!this.#isSent) this.send(connection);
  }

  /** Sends the messages. Called before node-postgres requests it, this pipelines them behind earlier ones. */
  send(connection: Connection): void {
    this.#isSent = true;
    // Combines all messages into one system call.
    connection.stream.cork();
    try {
      write(connection, this, this.#values, this.#manner);
    } finally {
      connection.stream.uncork();
    }
  }

  handleRowDescription(message: RowDescription): void {
    this.result.shape = {
      columns: message.fields.map((field) => field.name),
      parsers: message.fields.map((field) => parserFor(field.dataTypeID)),
    };
  }

  handleDataRow(message: DataRow): void {
    if (!this.inPrelude) this.result.add(message.fields);
  }

  handleCommandComplete(message: CommandComplete): void {
    this.result.tag = message.text;
    this.inPrelude = false;
    if (this.#manner.isTimed) this.result.executedAt = time.nowMs();
  }

  handleReadyForQuery(): void {
    this.#outcome.answered(this.result.rows, this.result.unreadable);
  }

  handleError(error: Error): void {
    this.#outcome.failed(error);
  }

  handleEmptyQuery(): void {}

  handlePortalSuspended(): void {}

  handleCopyInResponse(connection: Connection & { sendCopyFail?(message: string): void }): void {
    connection.sendCopyFail?.('COPY FROM STDIN is not supported');
    // The server ignored the first Sync, as it ignores everything except COPY data.
    connection.sync();
  }

  handleCopyData(): void {}
}

function write(
  connection: Connection,
  { name, text }: Pick<StatementRun, 'name' | 'text'>,
  values: WireValue[],
  { prepared, prelude, isTimed }: RunManner,
): void {
  if (prelude !== undefined) {
    // Without a Sync in between, the server runs both in one transaction.
    connection.parse({ name: '', text: prelude, types: [] }, true);
    connection.bind({ statement: '' }, true);
    connection.execute(null, true);
  }
  if (prepared === undefined) connection.parse({ name, text, types: [] }, true);
  connection.bind({ statement: name, values }, true);
  if (prepared?.shape === undefined) connection.describe({ type: 'P', name: '' }, true);
  connection.execute(null, true);
  // Makes the server send the result now instead of after the commit.
  if (isTimed) connection.flush();
  connection.sync();
}
