import { type Diagnostic, diagnostic } from '../diagnostics.js';
import { PARTIALS, TEMPLATES } from './own-templates.js';

const KNOWN: readonly string[] = [...Object.keys(TEMPLATES), ...PARTIALS.map((name) => `partials/${name}`)];

/** Reports files that replace no template and are no partial of the user. */
export function checkTemplateNames(
  templates: ReadonlyMap<string, { readonly file: string }>,
): readonly Diagnostic[] {
  const unknown = [...templates].filter(([path]) => !KNOWN.includes(path) && !path.startsWith('partials/'));
  return unknown.map(([path, { file }]) => {
    const message = `The file replaces no template: there is no template ${path}`;
    const hint = `Name it after a template: ${KNOWN.join(', ')}. Move a partial of your own to partials.`;
    return diagnostic('FWGEN044', { file }, message, hint);
  });
}
