import { type Diagnostic, diagnostic } from '../diagnostics.js';
import type { EventSchema } from '../schema/project-schema.js';
import type { SourceFiles } from './source-files.js';

/** A class that is created under its own name, or imported under another one. */
const CREATED =
  /\bnew\s+(?:[\p{ID_Start}_$][\p{ID_Continue}$]*\.)?([\p{ID_Start}_$][\p{ID_Continue}$]*)|([\p{ID_Start}_$][\p{ID_Continue}$]*)\s+as\s/gu;
/** A static factory of the class itself. */
const CREATED_BY_ITSELF = /\bnew\s+this\b/;

/**
 * Events that no source creates: a model may lack `withEvent`. An event that only older releases have written carries
 * `@deprecated`.
 *
 * @param files all sources, project-relative
 */
export function unemittedEvents(
  sources: SourceFiles,
  files: readonly string[],
  events: readonly EventSchema[],
): readonly Diagnostic[] {
  if (events.length === 0) return [];
  const created = new Set<string>();
  for (const file of files) {
    for (const [, name, renamed] of (sources.text(file) ?? '').matchAll(CREATED))
      created.add(name ?? renamed ?? '');
  }
  return events.flatMap(({ name, file, isDeprecated, location, model }) => {
    const isOwn = CREATED_BY_ITSELF.test(sources.text(file) ?? '');
    if (isDeprecated === true || isOwn || created.has(name)) return [];
    const message = `No source creates ${name}, so ${model.name} never emits it`;
    const hint = `Emit it with \`.withEvent(new ${name}(...))\`, or write \`@deprecated\` in its comment if only older releases did.`;
    return diagnostic('FWGEN067', location, message, hint);
  });
}
