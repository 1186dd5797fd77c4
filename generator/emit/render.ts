import { createRequire } from 'node:module';
import type Handlebars from 'handlebars';
import { compareText } from '../diagnostics.js';
import { loadRuntime } from './built-parts.js';
import { COMPILE_OPTIONS } from './compile-options.js';
import { ownTemplateText, precompiledTemplates } from './own-templates.js';
import { TemplateError } from './template-error.js';
import { PARTIALS, TEMPLATES, type TemplateName } from './template-names.js';

/** Renders one template with its view. */
export type Render = (view: object) => string;

/** Templates of the user's own folder: text by path below it, without extension. */
export type UserTemplates = ReadonlyMap<string, { readonly file: string; readonly text: string }>;

const require = createRequire(import.meta.url);

/**
 * The templates of one run: the user's where there is one, else this package's own, compiled by its build. The
 * compiler is loaded only if a text has to be compiled.
 */
export class Renderer {
  readonly #user: UserTemplates;
  readonly #precompiled: ReturnType<typeof precompiledTemplates>;
  #engine: typeof Handlebars | undefined;

  constructor(user: UserTemplates = new Map()) {
    this.#user = user;
    this.#precompiled = precompiledTemplates();
  }

  /** One of the templates that every project has. */
  own(name: TemplateName): Render {
    return this.#renderer(name, TEMPLATES[name]);
  }

  /** A template of the user's that gives a further file. @param view name of the view it gets, for messages */
  extra(path: string, view: string): Render {
    return this.#renderer(path, view);
  }

  /** Paths of further templates below a folder such as `per-model`, sorted. */
  extras(folder: string): readonly string[] {
    return [...this.#user.keys()].filter((path) => path.startsWith(`${folder}/`)).sort(compareText);
  }

  /** Project-relative path of a user's template. */
  fileOf(path: string): string {
    return this.#user.get(path)?.file ?? path;
  }

  #renderer(path: string, viewName: string): Render {
    const template = this.#template(path);
    return (view) => {
      try {
        return inOnePiece(template(view));
      } catch (error) {
        throw this.#explained(error, path, viewName);
      }
    };
  }

  #template(path: string): (view: object) => string {
    const engine = this.#engineWithPartials();
    const user = this.#user.get(path);
    if (user !== undefined) return this.#compile(engine, user.file, user.text);
    const specification = this.#precompiled?.[path];
    return specification === undefined
      ? engine.compile(ownTemplateText(path), COMPILE_OPTIONS)
      : engine.template(specification);
  }

  #engineWithPartials(): typeof Handlebars {
    if (this.#engine !== undefined) return this.#engine;
    const needsCompiler = this.#precompiled === undefined || this.#user.size > 0;
    const loaded: typeof Handlebars = needsCompiler ? require('handlebars') : loadRuntime();
    const engine = loaded.create();
    for (const name of PARTIALS) {
      const path = `partials/${name}`;
      const user = this.#user.get(path);
      const specification = this.#precompiled?.[path];
      if (user !== undefined) engine.registerPartial(name, this.#compile(engine, user.file, user.text));
      else if (specification !== undefined) engine.registerPartial(name, engine.template(specification));
      else engine.registerPartial(name, engine.compile(ownTemplateText(path), COMPILE_OPTIONS));
    }
    for (const [path, { file, text }] of this.#user) {
      const name = path.slice('partials/'.length);
      if (path.startsWith('partials/') && !PARTIALS.some((own) => own === name)) {
        engine.registerPartial(name, this.#compile(engine, file, text));
      }
    }
    this.#engine = engine;
    return engine;
  }

  #compile(engine: typeof Handlebars, file: string, text: string): (view: object) => string {
    try {
      engine.precompile(text, COMPILE_OPTIONS);
    } catch (error) {
      const [message = '', ...rest] = messageOf(error).split('\n');
      const line = Number(/Parse error on line (\d+)/.exec(message)?.[1] ?? placeIn(message).line ?? 1);
      const what = (rest.at(-1) ?? message).replace(/ - \d+:\d+$/, '');
      throw new TemplateError('syntax', { file, line, column: 1 }, what, 'Correct the template.');
    }
    return engine.compile(text, COMPILE_OPTIONS);
  }

  /** A mistake in a template of the user's as such; anything else as it is. */
  #explained(error: unknown, path: string, viewName: string): unknown {
    const message = messageOf(error);
    const user = this.#user.get(path);
    const partial = [...this.#user].find(([each]) => each.startsWith('partials/'))?.[1];
    const missing =
      /^"(.*)" not defined in/.exec(message)?.[1] ??
      /^The partial (.*) could not be found/.exec(message)?.[1];
    const template = user ?? partial;
    if (template === undefined || missing === undefined) return error;
    return new TemplateError(
      'missing',
      { file: template.file, ...placeIn(message) },
      `The template speaks of ${JSON.stringify(missing)}, which its view ${viewName} does not have`,
      'See docs/templates.md for what the view holds.',
    );
  }
}

/**
 * The text itself. Until somebody looks at one of its characters, the engine keeps what a template gave as the hundreds
 * of pieces that it was joined from.
 */
function inOnePiece(text: string): string {
  text.charCodeAt(0);
  return text;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Handlebars puts `line:column`, the column from 0, behind its messages. */
function placeIn(message: string): { readonly line?: number; readonly column?: number } {
  const [, line, column] = / - (\d+):(\d+)$/.exec(message) ?? [];
  return line === undefined ? {} : { line: Number(line), column: Number(column) + 1 };
}
