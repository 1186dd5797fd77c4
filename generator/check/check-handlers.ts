import { type Diagnostic, diagnostic } from '../diagnostics.js';
import { placeKey } from '../schema/project-index.js';
import type { ProjectSchema } from '../schema/project-schema.js';
import { duplicates } from './check-names.js';

/** Rules of event handlers: their events exist, and their names, including former ones, are unique. */
export function checkHandlers(schema: ProjectSchema): readonly Diagnostic[] {
  const events = new Set(schema.events.map(placeKey));
  const unknown = schema.handlers.flatMap(({ className, events: handled }) =>
    handled.flatMap((event) => {
      if (events.has(placeKey(event))) return [];
      const message = `${className} handles ${event.name}, which is not an event`;
      return diagnostic('FWGEN046', event.location, message, 'Name classes that extend ModelEvent<X>.');
    }),
  );
  const handlers = schema.handlers.map((each) => ({ ...each, aliases: each.options.aliases ?? [] }));
  // A saga is driven by a handler with the saga's name.
  const names = [...handlers, ...schema.sagas].flatMap(({ name, location, aliases }) =>
    [name, ...aliases].map((each) => ({ name: each, location })),
  );
  const hint =
    "Rename one of the classes, or set another name: @FwEventHandler({ name: '...' }). Checkpoints are stored under the name.";
  return [...unknown, ...duplicates('FWGEN047', 'handler', names, hint)];
}
