import { readdirSync } from 'node:fs';
import { COMPILE_OPTIONS, loadHandlebars, ownTemplatesFolder, ownTemplateText } from './own-templates.js';

/** The names in the templates of a new project. */
export interface ScaffoldView {
  /** Name of the package, which is also the namespace of its events. */
  readonly name: string;
  /** Version range of this package in `package.json`. */
  readonly frameworkRange: string;
  /** Token of callers of the development server. */
  readonly token: string;
  /** Password of the databases in the compose file. */
  readonly databasePassword: string;
}

const FOLDER = 'init';
const EXTENSION = '.hbs';

/** Renders the files of a new project, `templates/init/`. Returns texts by path inside the project. */
export function renderScaffold(view: ScaffoldView): ReadonlyMap<string, string> {
  const engine = loadHandlebars();
  const files = readdirSync(`${ownTemplatesFolder()}/${FOLDER}`, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(EXTENSION))
    .map((path) => path.slice(0, -EXTENSION.length).replaceAll('\\', '/'))
    .sort();
  const render = (path: string): string =>
    engine.compile(ownTemplateText(`${FOLDER}/${path}`), COMPILE_OPTIONS)(view);
  return new Map(files.map((path) => [path, render(path)]));
}
