import type { StagedItem } from '../action/action-plan.js';
import { uuid7 } from '../domain/id-source.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { Statement } from '../sharding/shard-database.js';
import { arrayLiteral, quoteElement } from './column-codec.js';
import type { EventCatalog } from './event-catalog.js';
import { type FlushShape, flushText, hasGuards, shapeKey, type TableShape, updatedColumns } from './flush-shape.js';
import type { ActionRow, PlanWrite } from './plan-write.js';
import { type CodedColumn, RowCodec } from './row-codec.js';
import type { FlushRequest } from './shard-store.js';

/** One staged item with the number of its plan, from 1. */
interface Numbered {
  readonly plan: number;
  readonly item: StagedItem;
}

/** All items of one table. */
interface TableItems {
  readonly codec: RowCodec;
  readonly updates: Numbered[];
  readonly adds: Numbered[];
  readonly expects: Numbered[];
}

/** Most distinct texts that are prepared by name; further shapes travel unnamed. */
const MAXIMUM_PREPARED = 100;

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

  /** The statement that applies these plans. @throws ValidationError if a value does not fit its column */
  make(request: FlushRequest): Statement {
    const tables = groupByTable(request.plans);
    const events = this.#eventArrays(request.plans);
    const keys = keyArrays(request.plans);
    const shape: FlushShape = {
      tables: tables.map(tableShape),
      events: events !== undefined,
      keys: keys !== undefined,
      skipLocked: request.locked === 'skip',
    };
    const values: string[] = [this.#namespace, ...actionArrays(request.plans)];
    if (hasGuards(shape)) values.push(needsArray(request.plans));
    for (const table of tables) values.push(...guardArrays(table));
    for (const table of tables) if (table.adds.length > 0) values.push(...addArrays(table));
    if (events !== undefined) values.push(...events);
    if (keys !== undefined) values.push(...keys);
    return { ...textOf(shape), values };
  }

  #eventArrays(plans: readonly PlanWrite[]): string[] | undefined {
    const columns: string[][] = Array.from({ length: 9 }, () => []);
    plans.forEach((plan, index) => {
      for (const item of plan.items) {
        if (item.kind === 'expect') continue;
        for (const event of item.events) {
          const { name, version, writePayload } = this.#events.of(event);
          const row = [
            String(index + 1),
            uuid7.next(this.#shard.bits),
            quoteElement(event.getModelId()),
            quoteElement(event.getModelName()),
            quoteElement(name),
            quoteElement(writePayload(event)),
            String(item.model.version),
            String(version),
            optionalElement(plan.traceContext),
          ];
          row.forEach((element, position) => columns[position]?.push(element));
        }
      }
    });
    return columns[0]?.length === 0 ? undefined : columns.map(arrayLiteral);
  }
}

const texts = new Map<string, { readonly text: string; readonly name?: string }>();

/** Text and name of a shape; compiled once in the life of the process. */
function textOf(shape: FlushShape): { readonly text: string; readonly name?: string } {
  const key = shapeKey(shape);
  const known = texts.get(key);
  if (known !== undefined) return known;
  const text = flushText(shape);
  const made = texts.size < MAXIMUM_PREPARED ? { text, name: `fw_flush_${texts.size}` } : { text };
  if (texts.size < MAXIMUM_PREPARED) texts.set(key, made);
  return made;
}

function groupByTable(plans: readonly PlanWrite[]): readonly TableItems[] {
  const tables = new Map<string, TableItems>();
  plans.forEach((plan, index) => {
    for (const item of plan.items) {
      const { table } = item.descriptor;
      let items = tables.get(table);
      if (items === undefined) {
        items = { codec: RowCodec.of(item.descriptor), updates: [], adds: [], expects: [] };
        tables.set(table, items);
      }
      itemsOfKind(items, item.kind).push({ plan: index + 1, item });
    }
  });
  if (tables.size === 1) return [...tables.values()];
  return [...tables].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, items]) => items);
}

function itemsOfKind(items: TableItems, kind: StagedItem['kind']): Numbered[] {
  switch (kind) {
    case 'update':
      return items.updates;
    case 'add':
      return items.adds;
    case 'expect':
      return items.expects;
  }
}

function tableShape({ codec, updates, adds, expects }: TableItems): TableShape {
  return {
    model: codec.model,
    updates: updates.length > 0,
    adds: adds.length > 0,
    expects: expects.length > 0,
  };
}

function actionArrays(plans: readonly PlanWrite[]): string[] {
  const column = (element: (action: ActionRow) => string): string =>
    arrayLiteral(plans.map(({ action }) => element(action)));
  return [
    column(({ id }) => id),
    column(({ name }) => quoteElement(name)),
    column(({ principal }) => quoteElement(principal)),
    column(({ startedDate }) => quoteElement(startedDate)),
    column(({ completedDate }) => quoteElement(completedDate)),
    column(({ params }) => optionalElement(params)),
    column(({ result }) => optionalElement(result)),
  ];
}

/** How many guards each plan has. */
function needsArray(plans: readonly PlanWrite[]): string {
  return arrayLiteral(plans.map(({ items }) => String(items.filter(({ kind }) => kind !== 'add').length)));
}

function guardArrays({ codec, updates, expects }: TableItems): string[] {
  const arrays: string[] = [];
  if (updates.length > 0) arrays.push(...columnArrays(codec, updatedColumns(codec), updates), ...guardKeys(updates));
  if (expects.length > 0) arrays.push(...guardKeys(expects));
  return arrays;
}

function addArrays({ codec, adds }: TableItems): string[] {
  return [...columnArrays(codec, codec.columns, adds), arrayLiteral(adds.map(({ plan }) => String(plan)))];
}

function keyArrays(plans: readonly PlanWrite[]): string[] | undefined {
  const rows = plans.flatMap(({ key }, index) => {
    if (key === undefined) return [];
    const texts = [key.operation, key.key, key.fingerprint].map(quoteElement);
    const target = [String(key.target.group), String(key.target.member)];
    return [[String(index + 1), ...texts, ...target, optionalElement(key.result), quoteElement(key.expiresDate)]];
  });
  if (rows.length === 0) return undefined;
  return Array.from({ length: 8 }, (_, position) => arrayLiteral(rows.map((row) => row[position] ?? 'NULL')));
}

function columnArrays(codec: RowCodec, columns: readonly CodedColumn[], rows: readonly Numbered[]): string[] {
  return columns.map((column) => arrayLiteral(rows.map(({ item }) => codec.element(column, item.model))));
}

/** Plan, id and expected version of each guarded row. */
function guardKeys(rows: readonly Numbered[]): string[] {
  return [
    arrayLiteral(rows.map(({ plan }) => String(plan))),
    arrayLiteral(rows.map(({ item }) => item.model.id.getValue())),
    arrayLiteral(rows.map(({ item }) => (item.kind === 'add' ? 'NULL' : String(item.expectedVersion)))),
  ];
}

function optionalElement(text: string | undefined): string {
  return text === undefined ? 'NULL' : quoteElement(text);
}
