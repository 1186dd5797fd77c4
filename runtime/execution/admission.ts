import type { ActionPlan, StagedItem } from '../action/action-plan.js';
import type { ExecutionConfiguration } from '../action/execution-configuration.js';
import type { Reach } from '../action/tenancy.js';
import { ShardedId } from '../domain/id.js';
import { CrossShardException, PreconditionFailedError } from '../errors.js';
import type { PlanPart } from './routing.js';

/** The parts of a plan that determine which groups it reaches. */
export type ReachingPlan = Pick<ActionPlan, 'items' | 'schedules' | 'cancelledSchedules'>;

/**
 * Checks `ifVersion`. It applies to the state that an update starts from, so a retry after a conflict checks it again.
 *
 * @throws PreconditionFailedError if the version differs
 */
export function requireVersion(items: readonly StagedItem[], { ifVersion }: ExecutionConfiguration): void {
  if (ifVersion === undefined) return;
  const named = items.filter(({ model }) => model.id.getValue() === ifVersion.id);
  // Models of several classes may have one UUID.
  const item = named.find(({ descriptor }) => descriptor.name === ifVersion.modelName) ?? named[0];
  if (item === undefined || item.kind === 'add') return;
  if (ifVersion.versions.includes(item.expectedVersion)) return;
  // Tags that are not versions, such as weak ones, match no version.
  const wanted =
    ifVersion.versions.length === 0 ? 'and no version is accepted' : `not ${ifVersion.versions.join(' or ')}`;
  throw new PreconditionFailedError(
    `${item.descriptor.name} ${ifVersion.id} has version ${item.expectedVersion}, ${wanted}`,
  );
}

/**
 * Checks that a plan stays in the groups that its principal may reach: models, params of scheduled actions, and
 * cancelled schedules.
 *
 * @throws ForbiddenError if it does not
 */
export function requireReach(plan: ReachingPlan, reach: Reach | undefined): void {
  if (reach === undefined) return;
  for (const { model } of plan.items) reach.requireIds(model);
  for (const { params } of plan.schedules) reach.requireIds(params);
  for (const id of plan.cancelledSchedules)
    reach.require(ShardedId.named('Action', id).resolveShardIdentifier());
}

/** @throws CrossShardException for several shard transactions under a key, which covers one commit, or not allowed */
export function requireOneShard(
  actionName: string,
  parts: readonly PlanPart[],
  { allowCrossShard, idempotencyKey }: ExecutionConfiguration,
): void {
  if (parts.length < 2 || (allowCrossShard && idempotencyKey === undefined)) return;
  throw new CrossShardException(
    actionName,
    parts.map(({ shard }) => shard.toString()),
  );
}
