import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Handlebars from 'handlebars';

/** Renders one template with its view. */
export type Render = (view: object) => string;

const PARTIALS = ['header', 'imports'] as const;

/**
 * Loads a template of `templates/`. A name that the view does not have is an error, and nothing is escaped for HTML:
 * views hold text that is ready to be code.
 */
export function loadTemplate(name: string): Render {
  const engine = Handlebars.create();
  for (const partial of PARTIALS) engine.registerPartial(partial, readTemplate(`partials/${partial}`));
  const template = engine.compile(readTemplate(name), {
    noEscape: true,
    strict: true,
    knownHelpersOnly: true,
  });
  return (view) => template(view);
}

const folder = templatesFolder();

function readTemplate(name: string): string {
  return readFileSync(join(folder, `${name}.hbs`), 'utf8').replace(/\r\n/g, '\n');
}

/** `templates/` of the package: this file lies below its root, at one depth as source and at another as built. */
function templatesFolder(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const root = here.slice(0, here.lastIndexOf('generator')).replace(/dist[/\\]$/, '');
  return join(root, 'templates');
}
