import type { StagedItem } from '../../action/action-plan.js';
import { columnsOfFields, fieldsOf } from '../../domain/column-set.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import { descriptorOf, Entity } from '../../domain/entity.js';
import { shardOfUuid } from '../../domain/id.js';
import type { JsonValue } from '../../domain/json.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { parseUuid } from '../../domain/uuid.js';
import { DatabaseError } from '../../errors.js';
import type { EventCatalog } from '../codec/event-catalog.js';
import { type EventFacts, RecordedEvent } from '../codec/recorded-event.js';
import { ResultJson } from '../codec/result-json.js';
import type { ActionRow, PlanWrite, ScheduleRow } from '../write/plan-write.js';

/** One shard transaction as an entry of the journal keeps it: enough to apply it later, under the same action id. */
export interface RecordedPart {
  readonly shard: ShardIdentifier;
  readonly actionId: string;
  readonly items: readonly StagedItem[];
  readonly traceContext: string | undefined;
  /** JSON text. */
  readonly params: string | undefined;
  /** Version of their shape. */
  readonly paramsVersion: number;
  /** The principal's, as JSON text. */
  readonly claims: string | undefined;
  /** Actions to be run later. */
  readonly schedules: readonly ScheduleRow[];
  /** Ids of scheduled actions that are taken back if they have not begun. */
  readonly cancelledSchedules: readonly string[];
}

interface PartJson {
  readonly actionId: string;
  /** For people who read the table. */
  readonly shard: string;
  readonly items: readonly ItemJson[];
  readonly traceContext: string | null;
  /** JSON text, kept as text so that it comes back to the letter. */
  readonly params: string | null;
  /** Absent: 1. */
  readonly paramsVersion?: number;
  /** JSON text. Absent: the principal has none. */
  readonly claims?: string;
  /** Absent in entries that were written before shard transactions had them; likewise below. */
  readonly schedules?: readonly (Omit<ScheduleRow, 'paramsVersion'> & { readonly paramsVersion?: number })[];
  readonly cancelledSchedules?: readonly string[];
}

interface ItemJson {
  readonly kind: StagedItem['kind'];
  readonly model: JsonValue;
  readonly expectedVersion: number;
  /** Fields that an update changes. Absent: all. */
  readonly changed?: readonly string[];
  readonly events: readonly EventFacts[];
}

/** Writing a model asks for its descriptor only, which it carries. */
const models = new ResultJson([]);

/**
 * The shard transactions of a plan as JSON text. @throws ValidationError if a model holds what could not be read back
 */
export function partsToJson(parts: readonly PlanWrite[], events: EventCatalog): string {
  return JSON.stringify(parts.map((part) => partToJson(part, events)));
}

function partToJson(
  { action, paramsVersion = 1, items, traceContext, schedules = [], cancelledSchedules = [] }: PlanWrite,
  events: EventCatalog,
): PartJson {
  return {
    actionId: action.id,
    shard: shardOf(action.id).toString(),
    items: items.map((item) => itemToJson(item, events)),
    traceContext: traceContext ?? null,
    params: action.params ?? null,
    paramsVersion,
    ...(action.claims !== undefined && { claims: action.claims }),
    schedules,
    cancelledSchedules,
  };
}

function itemToJson(item: StagedItem, events: EventCatalog): ItemJson {
  return {
    kind: item.kind,
    model: JSON.parse(models.write(item.model)) as JsonValue,
    expectedVersion: item.kind === 'add' ? 0 : item.expectedVersion,
    ...(item.kind === 'update' &&
      item.changed !== undefined && { changed: fieldsOf(item.descriptor, item.changed) }),
    events: item.kind === 'expect' ? [] : item.events.map((event) => events.factsOf(event)),
  };
}

/** A shard transaction by name. */
export type PartName = Pick<RecordedPart, 'shard' | 'actionId'>;

/** The shard transactions of an entry, without what they hold. */
export function partNames(json: JsonValue): readonly PartName[] {
  // Only `partsToJson` writes it.
  return (json as unknown as readonly PartJson[]).map(({ actionId }) => ({
    shard: shardOf(actionId),
    actionId,
  }));
}

/** What each shard transaction of an entry changes, for people: `update Account 0190... from version 3`. */
export function partChanges(json: JsonValue): readonly (readonly string[])[] {
  return (json as unknown as readonly PartJson[]).map(({ items }) => items.map(describeItem));
}

function describeItem({ kind, model, expectedVersion }: ItemJson): string {
  const [name, fields] = (model as { readonly $model: readonly [string, { readonly id: JsonValue }] }).$model;
  const [id] = Object.values(fields.id as Readonly<Record<string, readonly [string, string]>>);
  const version = kind === 'add' ? '' : ` from version ${expectedVersion}`;
  return `${kind} ${name} ${id?.[1] ?? ''}${version}`;
}

/** Names of the actions whose params an entry holds, those that it schedules included, and the versions of these. */
export function paramsVersions(actionName: string, json: JsonValue): readonly (readonly [string, number])[] {
  return (json as unknown as readonly PartJson[]).flatMap(({ paramsVersion = 1, schedules = [] }) => [
    [actionName, paramsVersion] as const,
    ...schedules.map((each) => [each.actionName, each.paramsVersion ?? 1] as const),
  ]);
}

/** Reads shard transactions back, in the order in which they were to be applied. */
export class RecordedPartReader {
  readonly #values: ResultJson;

  /** @param known all models of the application */
  constructor(known: readonly ModelDescriptor[]) {
    this.#values = new ResultJson(known);
  }

  /** @throws UnknownModelError if a model is not known any more @throws DatabaseError if the row was tampered with */
  read(json: JsonValue): readonly RecordedPart[] {
    return (json as unknown as readonly PartJson[]).map((part) => ({
      shard: shardOf(part.actionId),
      actionId: part.actionId,
      items: part.items.map((item) => this.#readItem(item)),
      traceContext: part.traceContext ?? undefined,
      params: part.params ?? undefined,
      paramsVersion: part.paramsVersion ?? 1,
      claims: part.claims,
      schedules: (part.schedules ?? []).map((each) => ({ ...each, paramsVersion: each.paramsVersion ?? 1 })),
      cancelledSchedules: part.cancelledSchedules ?? [],
    }));
  }

  #readItem({ kind, model: json, expectedVersion, changed, events }: ItemJson): StagedItem {
    const model = this.#values.read(json);
    if (!(model instanceof Entity)) throw new DatabaseError('An entry of the journal holds no model', {});
    const descriptor = descriptorOf(model);
    const recorded = events.map((event) => new RecordedEvent(event));
    switch (kind) {
      case 'add':
        return { kind, descriptor, model, events: recorded };
      case 'update':
        return {
          ...{ kind, descriptor, model, expectedVersion, events: recorded },
          ...(changed !== undefined && { changed: columnsOfFields(descriptor, changed) }),
        };
      case 'expect':
        return { kind, descriptor, model, expectedVersion };
    }
  }
}

/** A recorded shard transaction as a plan that a store takes. */
export function planOfPart(
  part: RecordedPart,
  action: Omit<ActionRow, 'id' | 'params' | 'claims'>,
): PlanWrite {
  return {
    action: { ...action, id: part.actionId, params: part.params, claims: part.claims },
    items: part.items,
    traceContext: part.traceContext,
    key: undefined,
    schedules: part.schedules,
    cancelledSchedules: part.cancelledSchedules,
  };
}

/** The shard that an action id was made for. */
function shardOf(actionId: string): ShardIdentifier {
  return shardOfUuid(parseUuid(actionId));
}
