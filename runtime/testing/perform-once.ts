import { AccessCheck } from '../action/access-check.js';
import { ruleOf } from '../action/access-rule.js';
import { type Action, startPerform } from '../action/action.js';
import { ActionPlan, type StagedItem } from '../action/action-plan.js';
import type { ExecutionConfiguration } from '../action/execution-configuration.js';
import { runInPerformScope } from '../action/perform-scope.js';
import type { PlannedSchedule } from '../action/planned-schedule.js';
import type { Reach } from '../action/tenancy.js';
import type { Clock } from '../domain/clock.js';
import type { ModelEvent } from '../domain/model-event.js';
import { type Caller, principalOf } from '../domain/principal.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { ForbiddenError } from '../errors.js';
import { requireOneShard, requireReach, requireVersion } from '../execution/admission.js';
import { requireKeys } from '../execution/keys/planned-keys.js';
import { routePlan } from '../execution/routing.js';
import { withSchedules } from '../execution/scheduled-rows.js';
import type { EventCatalog } from '../persistence/codec/event-catalog.js';
import { RowCodec } from '../persistence/codec/row-codec.js';
import type { MemoryModels } from './memory-models.js';

/** One attempt. */
export interface Attempt<Params, Result> {
  readonly action: Action<Params, Result>;
  readonly principal: Caller;
  readonly params: Params;
  readonly configuration: ExecutionConfiguration;
  readonly clock: Clock;
  readonly models: MemoryModels;
  /** The groups of shards that the principal may reach. Undefined: all. */
  readonly reach: Reach | undefined;
  /** The registered events; undefined accepts events of every class. */
  readonly catalog: EventCatalog | undefined;
}

/** The effects that an admitted attempt would commit. */
export interface Performed<Result> {
  readonly result: Result;
  /** Staged models, in staging order. */
  readonly items: readonly StagedItem[];
  /** All events of the staged models, in the order of the outbox. */
  readonly events: readonly ModelEvent<unknown>[];
  /** The shards that the plan touches, in staging order. */
  readonly shards: readonly ShardIdentifier[];
  /** Scheduled actions. */
  readonly schedules: readonly PlannedSchedule[];
  /** Ids of cancelled schedules. */
  readonly cancelledSchedules: readonly string[];
}

/** Default time limit of an action under test, in milliseconds. */
const UNHURRIED_MS = 60_000;

/**
 * Runs `perform` once and admits the plan as the executor does, up to the write.
 *
 * @throws errors of `perform`, and refusals of the executor before a write
 */
export async function performOnce<Params, Result>(
  attempt: Attempt<Params, Result>,
): Promise<Performed<Result>> {
  const { configuration, models, catalog, reach } = attempt;
  reach?.requireIds(attempt.params);
  const { plan, access, actionName, run } = prepare(attempt);
  const result = await run().catch((error: unknown) => {
    throw access?.shown(error) ?? error;
  });
  access?.require();
  const items = plan.seal();
  requireReach(plan, reach);
  requireVersion(items, configuration);
  requireKeys(plan.keyed);
  const parts = withSchedules(routePlan(items, models.defaultShard), plan, models.defaultShard);
  for (const { shard } of parts) models.requireShard(shard);
  requireOneShard(actionName, parts, configuration);
  for (const item of items) {
    models.requireApplicable(actionName, item, items);
    requireStorable(item);
  }
  const events = items.flatMap((item) => (item.kind === 'expect' ? [] : item.events));
  for (const event of events) catalog?.of(event).writePayload(event);
  const { schedules, cancelledSchedules } = plan;
  return { result, items, events, shards: parts.map(({ shard }) => shard), schedules, cancelledSchedules };
}

/**
 * Runs `perform` once and discards its plan.
 *
 * @throws ForbiddenError if the rule of the action refuses the caller
 */
export async function requireAllowed<Params, Result>(
  attempt: Omit<Attempt<Params, Result>, 'catalog'>,
): Promise<void> {
  const { access, run } = prepare(attempt);
  const error = await run().then(
    () => undefined,
    (failure: unknown) => access?.shown(failure),
  );
  if (error instanceof ForbiddenError) throw error;
  access?.require();
}

/** Creates the run of an attempt. */
function prepare<Params, Result>({
  action,
  principal,
  params,
  configuration,
  clock,
  models,
  reach,
}: Omit<Attempt<Params, Result>, 'catalog'>): {
  readonly actionName: string;
  readonly plan: ActionPlan;
  readonly access: AccessCheck | undefined;
  readonly run: () => Promise<Result>;
} {
  const actionName = action.constructor.name;
  const known = principalOf(principal);
  const rule = known.isOwn ? undefined : ruleOf(action.constructor);
  const plan = new ActionPlan(clock, models.defaultShard);
  const access =
    rule && new AccessCheck({ actionName, rule, principal: known, params, items: () => plan.items });
  const scope = {
    actionName,
    plan,
    access,
    reach,
    signal: configuration.signal,
    remainingMs: () => configuration.timeoutMs ?? UNHURRIED_MS,
  };
  const run = (): Promise<Result> =>
    runInPerformScope(scope, async () => startPerform(action, plan, known, params));
  return { actionName, plan, access, run };
}

/** Refuses values that do not fit their column, such as amounts with too many decimals. @throws ValidationError */
function requireStorable({ kind, descriptor, model }: StagedItem): void {
  if (kind === 'expect') return;
  for (const { parameter } of RowCodec.of(descriptor).columns) parameter.one(model);
}
