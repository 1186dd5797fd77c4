import type { StagedItem } from '../action/action-plan.js';
import type { ExecutionConfiguration } from '../action/execution-configuration.js';
import { CrossShardException, PreconditionFailedError } from '../errors.js';
import type { Leg } from './routing.js';

/**
 * Checks `ifVersion`. It speaks about what an update starts from, so a retry after a lost race is checked again.
 *
 * @throws PreconditionFailedError if it does not hold
 */
export function requireVersion(items: readonly StagedItem[], { ifVersion }: ExecutionConfiguration): void {
  if (ifVersion === undefined) return;
  const item = items.find(({ model }) => model.id.getValue() === ifVersion.id);
  if (item === undefined || item.kind === 'add') return;
  if (ifVersion.versions.includes(item.expectedVersion)) return;
  // Tags that are no version, weak ones among them, leave none.
  const wanted =
    ifVersion.versions.length === 0 ? 'and no version is accepted' : `not ${ifVersion.versions.join(' or ')}`;
  throw new PreconditionFailedError(
    `${item.descriptor.name} ${ifVersion.id} has version ${item.expectedVersion}, ${wanted}`,
  );
}

/** @throws CrossShardException if a plan has several shard transactions without allowance */
export function requireOneShard(
  actionName: string,
  legs: readonly Leg[],
  { allowCrossShard }: ExecutionConfiguration,
): void {
  if (legs.length < 2 || allowCrossShard) return;
  throw new CrossShardException(
    actionName,
    legs.map(({ shard }) => shard.toString()),
  );
}
