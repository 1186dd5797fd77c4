import type Handlebars from 'handlebars';
import { compareText } from '../diagnostics.js';
import { bareView } from './bare-view.js';
import {
  COMPILE_OPTIONS,
  loadHandlebars,
  loadRuntime,
  ownTemplateText,
  PARTIALS,
  precompiledTemplates,
  TEMPLATES,
  type TemplateName,
} from './own-templates.js';
import { TemplateError } from './template-error.js';
import { compileUserTemplate, OwnPartialError, templateMistake } from './user-template.js';

/** Renders one template with its view. */
export type Render = (view: object) => string;

/** The user's templates by path below their folder, without extension. */
export type UserTemplates = ReadonlyMap<string, UserTemplate>;

interface UserTemplate {
  readonly file: string;
  readonly text: string;
}

/** A compiled template. Handlebars passes options to partials. */
type Template = (view: unknown, options?: Handlebars.RuntimeOptions) => string;

/**
 * The templates of one run. A template of the user replaces this package's precompiled one of the same path. The
 * compiler is loaded only if a text has to be compiled.
 */
export class Renderer {
  readonly #user: UserTemplates;
  readonly #precompiled: ReturnType<typeof precompiledTemplates>;
  #engine: typeof Handlebars | undefined;
  /** Name of the current view, for messages. */
  #viewName = '';
  /** File of the user's template that is currently running. */
  #running: string | undefined;
  /** Partials with a known file. */
  readonly #partials = new WeakSet<Template>();

  constructor(user: UserTemplates = new Map()) {
    this.#user = user;
    this.#precompiled = precompiledTemplates();
  }

  /** Returns one of the templates that every project has. */
  own(name: TemplateName): Render {
    return this.#renderer(name, TEMPLATES[name]);
  }

  /** Returns an additional template of the user. @param view name of its view, for messages */
  extra(path: string, view: string): Render {
    return this.#renderer(path, view);
  }

  /** Paths of additional templates below a folder such as `per-model`, sorted. */
  extras(folder: string): readonly string[] {
    return [...this.#user.keys()].filter((path) => path.startsWith(`${folder}/`)).sort(compareText);
  }

  /** Project-relative path of a template of the user. */
  fileOf(path: string): string {
    return this.#user.get(path)?.file ?? path;
  }

  #renderer(path: string, viewName: string): Render {
    const template = this.#template(path);
    return (view) => {
      this.#viewName = viewName;
      try {
        return inOnePiece(template(view));
      } catch (error) {
        throw error instanceof OwnPartialError ? error.cause : error;
      }
    };
  }

  #template(path: string): Template {
    const engine = this.#engineWithPartials();
    const user = this.#user.get(path);
    return user === undefined ? this.#ownTemplate(engine, path) : this.#userTemplate(engine, user);
  }

  #ownTemplate(engine: typeof Handlebars, path: string): Template {
    const specification = this.#precompiled?.[path];
    return specification === undefined
      ? engine.compile(ownTemplateText(path), COMPILE_OPTIONS)
      : engine.template(specification);
  }

  /** Returns a template whose mistakes are reported with its file. */
  #userTemplate(engine: typeof Handlebars, { file, text }: UserTemplate): Template {
    const template = compileUserTemplate(engine, file, text);
    return this.#withFile((view, options) => {
      const partialOptions = this.#partialOptions(options);
      return this.#runAs(file, () => template(bareView(view), partialOptions));
    });
  }

  #runAs(file: string, run: () => string): string {
    const before = this.#running;
    this.#running = file;
    try {
      return run();
    } catch (error) {
      throw error instanceof TemplateError ? error : templateMistake(error, file, this.#viewName);
    } finally {
      this.#running = before;
    }
  }

  /**
   * Returns the options for a partial. Its block and inline partials run inside it, but their text belongs to the
   * calling template.
   */
  #partialOptions(options: Handlebars.RuntimeOptions | undefined): Handlebars.RuntimeOptions | undefined {
    const caller = this.#running;
    if (caller === undefined || options === undefined) return options;
    const ofCaller = (run: unknown): unknown =>
      isTemplate(run) && !this.#partials.has(run)
        ? this.#withFile((view, more) => this.#runAs(caller, () => run(view, more)))
        : run;
    const partials = Object.entries(options.partials ?? {}).map(([name, run]) => [name, ofCaller(run)]);
    const data = { ...options.data, [BLOCK]: ofCaller(options.data?.[BLOCK]) };
    return { ...options, partials: Object.fromEntries(partials), data };
  }

  #withFile(template: Template): Template {
    this.#partials.add(template);
    return template;
  }

  #engineWithPartials(): typeof Handlebars {
    if (this.#engine !== undefined) return this.#engine;
    const needsCompiler = this.#precompiled === undefined || this.#user.size > 0;
    const loaded: typeof Handlebars = needsCompiler ? loadHandlebars() : loadRuntime();
    const engine = loaded.create();
    for (const name of PARTIALS) {
      const path = `partials/${name}`;
      if (this.#user.has(path)) continue;
      engine.registerPartial(name, this.#withFile(ownPartial(name, this.#ownTemplate(engine, path))));
    }
    for (const [path, user] of this.#user) {
      if (!path.startsWith('partials/')) continue;
      engine.registerPartial(path.slice('partials/'.length), this.#userTemplate(engine, user));
    }
    this.#engine = engine;
    return engine;
  }
}

/** The key under which Handlebars keeps the block between `{{#> name}}` and `{{/name}}`. */
const BLOCK = 'partial-block';

function isTemplate(value: unknown): value is Template {
  return typeof value === 'function';
}

/** Adds the partial's name to its errors, because the cause may be a wrong view from a template of the user. */
function ownPartial(name: string, template: Template): Template {
  return (view, options) => {
    try {
      return template(view, options);
    } catch (error) {
      throw error instanceof TemplateError ? error : new OwnPartialError(name, error);
    }
  };
}

/** Flattens the text. V8 keeps the result of a template as a rope of hundreds of pieces until a character is read. */
function inOnePiece(text: string): string {
  text.charCodeAt(0);
  return text;
}
