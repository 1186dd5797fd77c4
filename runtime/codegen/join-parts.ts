import type { ApplicationDefinition } from '../application-definition.js';

type Lists = 'models' | 'events' | 'wire' | 'routes' | 'migrations';

/** What one emitted file adds to an application: usually what belongs to one model. */
export type ApplicationPart<Collaborators = Record<never, never>> = Partial<
  Pick<ApplicationDefinition<Collaborators>, Lists>
>;

/** Returns everything that the parts add. Migrations are sorted by name. */
export function joinParts<Collaborators>(
  parts: readonly ApplicationPart<Collaborators>[],
): Pick<ApplicationDefinition<Collaborators>, Lists> {
  const migrations = parts.flatMap((part) => part.migrations ?? []);
  return {
    models: parts.flatMap((part) => part.models ?? []),
    events: parts.flatMap((part) => part.events ?? []),
    wire: (context, collaborators) => parts.flatMap(({ wire }) => wire?.(context, collaborators) ?? []),
    routes: parts.flatMap((part) => part.routes ?? []),
    migrations: migrations.sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}
