import { placeKey } from './project-index.js';
import type { ActionSchema, ProjectSchema } from './project-schema.js';

type Declarations = Pick<ProjectSchema, 'actions' | 'sagas'>;

/** Returns actions that run later: another action schedules them, or a saga has them as a step. */
export function laterActions({ actions, sagas }: Declarations): ReadonlySet<ActionSchema> {
  const named = new Set(
    [
      ...actions.flatMap(({ schedules = [] }) => schedules),
      ...sagas.flatMap(({ stepActions = [] }) => stepActions),
    ].map(placeKey),
  );
  return new Set(actions.filter(({ className: name, file }) => named.has(placeKey({ name, file }))));
}

/**
 * Returns actions whose params are stored and read by later releases: they run later, the journal stores their shard
 * transactions, or their comment has a `@version`.
 */
export function durableActions(declarations: Declarations): readonly ActionSchema[] {
  const later = laterActions(declarations);
  return declarations.actions.filter(
    (action) => action.isCrossShard === true || action.version !== undefined || later.has(action),
  );
}
