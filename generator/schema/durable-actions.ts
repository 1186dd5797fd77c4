import { placeKey } from './project-index.js';
import type { ActionSchema, ProjectSchema } from './project-schema.js';

/**
 * Returns actions whose params are stored and read by later releases: another action schedules them, a saga has them as
 * a step, the journal stores their shard transactions, or their comment has a `@version`.
 */
export function durableActions({
  actions,
  sagas,
}: Pick<ProjectSchema, 'actions' | 'sagas'>): readonly ActionSchema[] {
  const named = new Set(
    [
      ...actions.flatMap(({ schedules = [] }) => schedules),
      ...sagas.flatMap(({ stepActions = [] }) => stepActions),
    ].map(placeKey),
  );
  return actions.filter(
    (action) =>
      action.isCrossShard === true ||
      action.version !== undefined ||
      named.has(placeKey({ name: action.className, file: action.file })),
  );
}
