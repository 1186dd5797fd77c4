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

/** One shard transaction as a journal entry stores it: enough to apply it later under the same action id. */
export interface RecordedPart {
  readonly shard: ShardIdentifier;
  readonly actionId: string;
  readonly items: readonly StagedItem[];
  readonly traceContext: string | undefined;
  /** JSON text. */
  readonly params: string | undefined;
  /** Version of the params' format. */
  readonly paramsVersion: number;
  /** The principal's claims as JSON text. */
  readonly claims: string | undefined;
  /** Scheduled actions that the transaction adds. */
  readonly schedules: readonly ScheduleRow[];
  /** Ids of scheduled actions that the transaction cancels if they have not started. */
  readonly cancelledSchedules: readonly string[];
}

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

/** Identifies a shard transaction. */
export type PartName = Pick<RecordedPart, 'shard' | 'actionId'>;

/** The names of an entry's shard transactions. */
export function partNames(json: JsonValue): readonly PartName[] {
  // The value comes from `partsToJson`.
  return (json as unknown as readonly PartJson[]).map(({ actionId }) => ({
    shard: shardOf(actionId),
    actionId,
  }));
}

/** The changes of each shard transaction of an entry, for display: `update Account 0190... from version 3`. */
export function partChanges(json: JsonValue): readonly (readonly string[])[] {
  return (json as unknown as readonly PartJson[]).map(({ items }) => items.map(describeItem));
}

function describeItem({ kind, model, expectedVersion }: ItemJson): string {
  const [name, fields] = (model as { readonly $model: readonly [string, { readonly id: JsonValue }] }).$model;
  const [id] = Object.values(fields.id as Readonly<Record<string, readonly [string, string]>>);
  const version = kind === 'add' ? '' : ` from version ${expectedVersion}`;
  return `${kind} ${name} ${id?.[1] ?? ''}${version}`;
}

/** Names of the actions whose params an entry holds, including scheduled actions, with the versions of these params. */
export function paramsVersions(actionName: string, json: JsonValue): readonly (readonly [string, number])[] {
  return (json as unknown as readonly PartJson[]).flatMap(({ paramsVersion = 1, schedules = [] }) => [
    [actionName, paramsVersion] as const,
    ...schedules.map((each) => [each.actionName, each.paramsVersion ?? 1] as const),
  ]);
}

/** Restores the shard transactions of a journal entry, in the order in which they are applied. */
export class RecordedPartReader {
  readonly #values: ResultJson;

  /** @param known all models of the application */
  constructor(known: readonly ModelDescriptor[]) {
    this.#values = new ResultJson(known);
  }

  /**
   * @throws UnknownModelError if the application no longer has one of the models
   * @throws DatabaseError if the row was modified by hand
   */
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

/** The shard that the action id belongs to. */
function shardOf(actionId: string): ShardIdentifier {
  return shardOfUuid(parseUuid(actionId));
}
