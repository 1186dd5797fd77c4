import { type Diagnostic, diagnostic, formatLocation } from '../diagnostics.js';
import { placeKey } from '../schema/project-index.js';
import type { ProjectSchema } from '../schema/project-schema.js';
import { repeated } from './check-names.js';

/** Rules of event handlers: their events exist, and their names, including former ones, are unique. */
export function checkHandlers(schema: ProjectSchema): readonly Diagnostic[] {
  const events = new Set(schema.events.map(placeKey));
  const unknown = schema.handlers.flatMap((handler) =>
    handler.events
      .filter((event) => !events.has(placeKey(event)))
      .map(({ name, location }) =>
        diagnostic(
          'FWGEN046',
          location,
          `${handler.className} handles ${name}, which is not an event`,
          'Name classes that extend ModelEvent<X>.',
        ),
      ),
  );
  const handlers = schema.handlers.map(({ options, ...each }) => ({
    ...each,
    aliases: options.aliases ?? [],
  }));
  // A saga is driven by a handler with the saga's name.
  const names = [...handlers, ...schema.sagas].flatMap(({ name, location, aliases }) =>
    [name, ...aliases].map((each) => ({ name: each, location })),
  );
  const doubled = repeated(names, ({ name }) => name).map(([first, second]) =>
    diagnostic(
      'FWGEN047',
      second.location,
      `The handler name ${JSON.stringify(second.name)} is already used at ${formatLocation(first.location)}`,
      "Rename one of the classes, or set another name: @FwEventHandler({ name: '...' }). Checkpoints are stored under the name.",
    ),
  );
  return [...unknown, ...doubled];
}
