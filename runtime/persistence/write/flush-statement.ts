import { uuid7 } from '../../domain/id-source.js';
import { heldKeys } from '../../domain/natural-key.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import type { Statement } from '../../sharding/shard-database.js';
import {
  type ArrayValue,
  arrayLiteral,
  instantArray,
  jsonArray,
  jsonElement,
  optionalElement,
  quoteElement,
  uuidArray,
} from '../codec/column-codec.js';
import type { EventCatalog } from '../codec/event-catalog.js';
import { type CodedColumn, RowCodec } from '../codec/row-codec.js';
import { tableUpdates, type UpdateColumns } from '../codec/update-columns.js';
import type { FlushRequest, WriteGroup } from '../shard-store.js';
import { EventColumns } from './event-columns.js';
import { type FlushShape, flushText, hasGuards, hasSteps, shapeKey, type TableShape } from './flush-shape.js';
import { changedBy, foldGroup, type RowChange } from './folded-group.js';
import type { FoldingProof, FoldingRules } from './folding-rules.js';
import { handoverSteps } from './key-handover.js';
import { asLonePlan, type LonePlan, loneShapeKey, loneText, loneValues } from './lone-flush.js';
import type { ActionRow, PlanWrite } from './plan-write.js';
import type { ConflictTargets } from './unique-conflicts.js';

/** The change of one row with the number of its group, from 1. */
interface GroupChange {
  readonly group: number;
  readonly change: RowChange;
}

/** All changes of one table. */
interface TableChanges {
  readonly codec: RowCodec;
  readonly updates: GroupChange[];
  readonly adds: GroupChange[];
  readonly expects: GroupChange[];
  /** Step of each row whose natural keys go to another row, or come from one. Absent: none do. */
  steps?: ReadonlyMap<RowChange, number>;
}

/** Most distinct texts that are prepared by name; further shapes travel unnamed. */
const MAXIMUM_PREPARED = 100;
const KEY_COLUMNS = 8;
const SCHEDULE_COLUMNS = 7;
const CANCELLATION_COLUMNS = 2;

/** What a statement depends on besides its plans. */
export interface MakeOptions {
  /** Tables whose rows are left out if they conflict; no group adds two rows to them. Default none. */
  readonly conflicts?: ConflictTargets | undefined;
  /** Says what the statement has to prove if it folds rows. Default: nothing. */
  readonly folding?: Pick<FoldingRules, 'proofOf'> | undefined;
}

/** Makes flush statements for one shard. */
export class FlushStatements {
  readonly #shard: ShardIdentifier;
  readonly #namespace: string;
  readonly #events: EventCatalog;

  constructor(shard: ShardIdentifier, namespace: string, events: EventCatalog) {
    this.#shard = shard;
    this.#namespace = namespace;
    this.#events = events;
  }

  /**
   * The statement that applies these groups.
   *
   * @throws ValidationError if a value does not fit its column
   * @throws FoldingOutdated if a row is folded that may not be
   */
  make({ groups, locked }: FlushRequest, { conflicts, folding }: MakeOptions = {}): Statement {
    const plans = groups.flat();
    const folds = groups.map(foldGroup);
    const lone =
      plans[0] === undefined || plans.length > 1 ? undefined : asLonePlan(plans[0], folds[0] ?? []);
    if (lone !== undefined) return this.#makeLone(lone, locked === 'skip');
    const tables = groupByTable(folds);
    const events = this.#eventColumns(plans);
    const keys = keyArrays(plans);
    const schedules = scheduleArrays(plans);
    const cancellations = cancellationArrays(plans);
    const journal = journalArrays(plans);
    const proofs = folding === undefined ? [] : tables.map((table) => proofOf(table, folding));
    const shapes = tables.map((table, index) => tableShape(table, conflicts, proofs[index]));
    const shape: FlushShape = {
      tables: shapes,
      events: events.length > 0,
      keys: keys.length > 0,
      schedules: schedules.length > 0,
      cancellations: cancellations.length > 0,
      journal: journal.length > 0,
      folded: plans.length > groups.length,
      oneGuard: folds.every(hasOneGuard),
      skipLocked: locked === 'skip',
    };
    const values: ArrayValue[] = [this.#namespace, ...actionArrays(plans)];
    const guarded = hasGuards(shape);
    if (guarded && shape.folded) values.push(groupNumbers(groups));
    if (guarded && !shape.oneGuard) values.push(needsArray(folds));
    for (const proof of proofs) if (proof !== undefined) values.push(proof.catalogVersion);
    for (const [index, table] of tables.entries()) values.push(...guardArrays(table, shapes[index]));
    // Rows that may be left out come first: the rest of the statement depends on them.
    const mayConflict = (index: number): boolean => shapes[index]?.conflicts !== undefined;
    for (const first of [true, false]) {
      for (const [index, table] of tables.entries()) {
        if (table.adds.length > 0 && mayConflict(index) === first) values.push(...addArrays(table));
      }
    }
    values.push(...events, ...keys, ...schedules, ...cancellations, ...journal);
    return { ...textOf(shapeKey(shape), () => flushText(shape)), values };
  }

  #eventColumns(plans: readonly PlanWrite[]): readonly ArrayValue[] {
    const columns = new EventColumns(this.#events, this.#shard.bits);
    for (const [index, plan] of plans.entries()) columns.add(plan, index + 1);
    return columns.values;
  }

  #makeLone(lone: LonePlan, skipLocked: boolean): Statement {
    const values = loneValues(lone, this.#namespace, (event) => {
      const { name, version, writePayload } = this.#events.of(event);
      return { id: uuid7.next(this.#shard.bits), name, eventVersion: version, payload: writePayload(event) };
    });
    return { ...textOf(loneShapeKey(lone, skipLocked), () => loneText(lone, skipLocked)), values };
  }
}

/** Rows of elements as one array literal per column; none at all without rows. */
function transpose(rows: readonly (readonly string[])[], columns: number): readonly string[] {
  if (rows.length === 0) return [];
  const arrays: string[] = [];
  for (let column = 0; column < columns; column += 1) {
    arrays.push(arrayLiteral(rows.map((row) => row[column] ?? 'NULL')));
  }
  return arrays;
}

const texts = new Map<string, { readonly text: string; readonly name?: string }>();

/** Text and name of a shape; compiled once in the life of the process. */
function textOf(key: string, make: () => string): { readonly text: string; readonly name?: string } {
  const known = texts.get(key);
  if (known !== undefined) return known;
  const text = make();
  if (texts.size >= MAXIMUM_PREPARED) return { text };
  const made = { text, name: `fw_flush_${texts.size}` };
  texts.set(key, made);
  return made;
}

/** Sorted by table name. */
function groupByTable(folds: readonly (readonly RowChange[])[]): readonly TableChanges[] {
  const tables = new Map<string, TableChanges>();
  folds.forEach((changes, index) => {
    for (const change of changes) {
      const { table } = change.descriptor;
      let rows = tables.get(table);
      if (rows === undefined) {
        rows = { codec: RowCodec.of(change.descriptor), updates: [], adds: [], expects: [] };
        tables.set(table, rows);
      }
      changesOfKind(rows, change.kind).push({ group: index + 1, change });
    }
  });
  const sorted = [...tables].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, rows]) => rows);
  for (const rows of sorted) if (rows.codec.model.keys !== undefined) orderByKeys(rows);
  return sorted;
}

/** Processes that insert the same keys do so in one order, or they would wait for one another in a circle. */
function orderByKeys(rows: TableChanges): void {
  const { updates, adds } = rows;
  if (adds.length > 1) {
    const texts = new Map(adds.map((add) => [add, heldKeys(add.change.model).join()]));
    const textOfAdd = (add: GroupChange): string => texts.get(add) ?? '';
    adds.sort((a, b) => Number(textOfAdd(a) > textOfAdd(b)) - Number(textOfAdd(a) < textOfAdd(b)));
  }
  const steps =
    updates.length === 0 ? undefined : handoverSteps([...updates, ...adds].map(({ change }) => change));
  if (steps !== undefined && steps.size > 0) rows.steps = steps;
}

function changesOfKind(rows: TableChanges, kind: RowChange['kind']): GroupChange[] {
  switch (kind) {
    case 'update':
      return rows.updates;
    case 'add':
      return rows.adds;
    case 'expect':
      return rows.expects;
  }
}

/** Undefined if no row of the table is folded, or if its model says that they may be. */
function proofOf(
  { codec, updates, adds }: TableChanges,
  folding: Pick<FoldingRules, 'proofOf'>,
): FoldingProof | undefined {
  const isFolded = [updates, adds].some((rows) => rows.some(({ change }) => change.isFolded));
  return isFolded ? folding.proofOf(codec.model) : undefined;
}

function tableShape(
  { codec, updates, adds, expects, steps }: TableChanges,
  conflicts: ConflictTargets | undefined,
  proof: FoldingProof | undefined,
): TableShape {
  return {
    model: codec.model,
    proves: proof,
    conflicts: adds.length === 0 ? undefined : conflicts?.get(codec.model.table)?.target,
    updates:
      updates.length === 0
        ? undefined
        : tableUpdates(codec.model).of(updates.map(({ change }) => changedBy(change))),
    adds: adds.length > 0,
    expects: expects.length > 0,
    steps: steps && Math.max(...updates.map(({ change }) => steps.get(change) ?? 0)) + 1,
  };
}

function actionArrays(plans: readonly PlanWrite[]): readonly ArrayValue[] {
  const column = (element: (action: ActionRow) => string): string =>
    arrayLiteral(plans.map(({ action }) => element(action)));
  return [
    uuidArray(plans.map(({ action }) => action.id)),
    column(({ name }) => quoteElement(name)),
    column(({ principal }) => quoteElement(principal)),
    instantArray(plans.map(({ action }) => action.startedDate)),
    instantArray(plans.map(({ action }) => action.completedDate)),
    jsonArray(plans.map(({ action }) => action.params ?? 'null')),
  ];
}

/** The group of each action. */
function groupNumbers(groups: readonly WriteGroup[]): string {
  return arrayLiteral(groups.flatMap((group, index) => group.map(() => String(index + 1))));
}

function hasOneGuard(changes: readonly RowChange[]): boolean {
  return guardsOf(changes) === 1;
}

function guardsOf(changes: readonly RowChange[]): number {
  return changes.reduce((sum, { kind }) => (kind === 'add' ? sum : sum + 1), 0);
}

/** How many guards each group has. */
function needsArray(folds: readonly (readonly RowChange[])[]): string {
  return arrayLiteral(folds.map((changes) => String(guardsOf(changes))));
}

function guardArrays(
  { codec, updates, expects, steps }: TableChanges,
  shape: TableShape | undefined,
): readonly ArrayValue[] {
  const arrays: ArrayValue[] = [];
  const set = shape?.updates;
  if (set !== undefined) arrays.push(...updateArrays(codec, set, updates), ...guardKeys(updates));
  if (shape !== undefined && hasSteps(shape))
    arrays.push(arrayLiteral(updates.map(({ change }) => String(steps?.get(change) ?? 0))));
  if (expects.length > 0) arrays.push(...guardKeys(expects));
  return arrays;
}

function addArrays({ codec, adds }: TableChanges): readonly ArrayValue[] {
  return [...columnArrays(codec, codec.columns, adds), arrayLiteral(adds.map(({ group }) => String(group)))];
}

/** One array per column, and behind it one of flags where not every row sets it. */
function updateArrays(
  codec: RowCodec,
  { columns }: UpdateColumns,
  rows: readonly GroupChange[],
): readonly ArrayValue[] {
  const models = rows.map(({ change }) => change.model);
  return columns.flatMap(({ column, position, isFlagged }): readonly ArrayValue[] => {
    if (!isFlagged) return [codec.array(column, models)];
    const flags = rows.map(({ change }) => changedBy(change).positions.includes(position));
    return [codec.sparseArray(column, models, flags), arrayLiteral(flags.map((flag) => (flag ? 't' : 'f')))];
  });
}

function columnArrays(
  codec: RowCodec,
  columns: readonly CodedColumn[],
  rows: readonly GroupChange[],
): ArrayValue[] {
  const models = rows.map(({ change }) => change.model);
  return columns.map((column) => codec.array(column, models));
}

/** Group, id and expected version of each guarded row. */
function guardKeys(rows: readonly GroupChange[]): readonly ArrayValue[] {
  return [
    arrayLiteral(rows.map(({ group }) => String(group))),
    uuidArray(rows.map(({ change }) => change.model.id.getValue())),
    arrayLiteral(rows.map(({ change }) => String(change.expectedVersion))),
  ];
}

/** One array per column; none at all without scheduled actions. */
function scheduleArrays(plans: readonly PlanWrite[]): readonly string[] {
  const rows = plans.flatMap(({ schedules = [], traceContext }, index) =>
    schedules.map(({ id, dueDate, actionName, params, paramsVersion }) => {
      const texts = [dueDate, actionName, params].map(quoteElement);
      return [String(index + 1), id, ...texts, String(paramsVersion), optionalElement(traceContext)];
    }),
  );
  if (rows.length === 0) return [];
  return Array.from({ length: SCHEDULE_COLUMNS }, (_, position) =>
    arrayLiteral(rows.map((row) => row[position] ?? 'NULL')),
  );
}

/** One array per column; none at all if nothing is taken back. */
function cancellationArrays(plans: readonly PlanWrite[]): readonly string[] {
  const rows = plans.flatMap(({ cancelledSchedules = [] }, index) =>
    cancelledSchedules.map((id) => [String(index + 1), id]),
  );
  return transpose(rows, CANCELLATION_COLUMNS);
}

/** One array per column; none at all without keys. */
function keyArrays(plans: readonly PlanWrite[]): readonly string[] {
  const rows = plans.flatMap(({ key }, index) => {
    if (key === undefined) return [];
    const texts = [key.operation, key.key, key.fingerprint].map(quoteElement);
    const target = [String(key.target.group), String(key.target.member)];
    return [[String(index + 1), ...texts, ...target, optionalJson(key.result), key.expiresDate]];
  });
  return transpose(rows, KEY_COLUMNS);
}

/** One array per column; none at all without entries. */
function journalArrays(plans: readonly PlanWrite[]): readonly string[] {
  const entries = plans.flatMap(({ journal }, index) =>
    journal === undefined ? [] : [{ journal, number: index + 1 }],
  );
  if (entries.length === 0) return [];
  return [
    arrayLiteral(entries.map(({ number }) => String(number))),
    arrayLiteral(entries.map(({ journal }) => quoteElement(journal.legs))),
    arrayLiteral(entries.map(({ journal }) => String(Math.ceil(journal.holdMs)))),
  ];
}

function optionalJson(json: string | undefined): string {
  return json === undefined ? 'NULL' : jsonElement(json);
}
