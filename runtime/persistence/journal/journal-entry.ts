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
import type { PartWrite, PlanWrite, ScheduleRow } from '../write/plan-write.js';
import type { JournalRow } from './journal-store.js';

interface PartJson {
  readonly actionId: string;
  /** Shown to operators who read the table. */
  readonly shard: string;
  readonly items: readonly ItemJson[];
  readonly traceContext: string | null;
  /** JSON text, stored as text so that it is restored byte for byte. */
  readonly params: string | null;
  /** Absent: 1. */
  readonly paramsVersion?: number;
  /** JSON text. Absent if the principal has no claims. */
  readonly claims?: string;
  /** Absent in entries of versions without scheduled actions, as is the field below. */
  readonly schedules?: readonly (Omit<ScheduleRow, 'paramsVersion'> & { readonly paramsVersion?: number })[];
  readonly cancelledSchedules?: readonly string[];
}

interface ItemJson {
  readonly kind: StagedItem['kind'];
  readonly model: JsonValue;
  readonly expectedVersion: number;
  /** Fields that the update changes. Absent: all. */
  readonly changed?: readonly string[];
  /** Names of the natural keys that the row held before an update. Absent: none, or unknown. */
  readonly heldBefore?: readonly string[];
  readonly events: readonly EventFacts[];
}

/** `ResultJson` needs known models only for reading; to write a model it uses the model's own descriptor. */
const models = new ResultJson([]);

/**
 * The shard transactions of a plan as JSON text.
 * @throws ValidationError if a model holds a value that cannot be restored
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
    schedules: schedules.map(({ planned: _, ...row }) => row),
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
    ...(item.kind === 'update' && item.heldBefore !== undefined && { heldBefore: item.heldBefore }),
    events: item.kind === 'expect' ? [] : item.events.map((event) => events.factsOf(event)),
  };
}

/** A shard transaction of an entry, for display. */
export interface ShownPart {
  readonly shard: ShardIdentifier;
  readonly actionId: string;
  /** Its changes: `update Account 0190... from version 3`. */
  readonly changes: readonly string[];
}

/** The shard transactions of an entry, for display: they need not be known to this process. */
export function shownParts(json: JsonValue): readonly ShownPart[] {
  return partsIn(json).map(({ actionId, items }) => {
    return { shard: shardOf(actionId), actionId, changes: items.map(describeItem) };
  });
}

/** The value comes from `partsToJson`. */
function partsIn(json: JsonValue): readonly PartJson[] {
  return json as unknown as readonly PartJson[];
}

function describeItem({ kind, model, expectedVersion }: ItemJson): string {
  const [name, fields] = (model as { readonly $model: readonly [string, { readonly id: JsonValue }] }).$model;
  const [id] = Object.values(fields.id as Readonly<Record<string, readonly [string, string]>>);
  const version = kind === 'add' ? '' : ` from version ${expectedVersion}`;
  return `${kind} ${name} ${id?.[1] ?? ''}${version}`;
}

/** Names of the actions whose params an entry holds, including scheduled actions, with the versions of these params. */
export function paramsVersions(actionName: string, json: JsonValue): readonly (readonly [string, number])[] {
  return partsIn(json).flatMap(({ paramsVersion = 1, schedules = [] }) => [
    [actionName, paramsVersion] as const,
    ...schedules.map((each) => [each.actionName, each.paramsVersion ?? 1] as const),
  ]);
}

/** What a journal entry stores of its plan. */
type RecordedPlan = Pick<JournalRow, 'parts' | 'actionName' | 'principal' | 'startedDate'>;

/** Restores the shard transactions of a journal entry, in the order in which they are applied. */
export class RecordedPartReader {
  readonly #values: ResultJson;

  /** @param known all models of the application */
  constructor(known: readonly ModelDescriptor[]) {
    this.#values = new ResultJson(known);
  }

  /**
   * @param completedDate of the attempt to apply them
   * @throws UnknownModelError if the application no longer has one of the models
   * @throws DatabaseError if the row was modified by hand
   */
  read(
    { parts, actionName, principal, startedDate }: RecordedPlan,
    completedDate: Date,
  ): readonly PartWrite[] {
    const attempt = { name: actionName, principal, startedDate, completedDate };
    return partsIn(parts).map(({ actionId, params, claims, paramsVersion = 1, schedules = [], ...part }) => ({
      shard: shardOf(actionId),
      write: {
        action: { ...attempt, id: actionId, params: params ?? undefined, claims },
        paramsVersion,
        items: part.items.map((item) => this.#readItem(item)),
        traceContext: part.traceContext ?? undefined,
        key: undefined,
        schedules: schedules.map((each) => ({ ...each, paramsVersion: each.paramsVersion ?? 1 })),
        cancelledSchedules: part.cancelledSchedules ?? [],
      },
    }));
  }

  #readItem({ kind, model: json, expectedVersion, changed, heldBefore, events }: ItemJson): StagedItem {
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
          ...(heldBefore !== undefined && { heldBefore }),
        };
      case 'expect':
        return { kind, descriptor, model, expectedVersion };
    }
  }
}

/** The shard that the action id belongs to. */
function shardOf(actionId: string): ShardIdentifier {
  return shardOfUuid(parseUuid(actionId));
}
