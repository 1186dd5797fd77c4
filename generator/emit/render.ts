import type Handlebars from 'handlebars';
import { compareText } from '../diagnostics.js';
import { bareView } from './bare-view.js';
import { loadHandlebars, loadRuntime } from './built-parts.js';
import { COMPILE_OPTIONS } from './compile-options.js';
import { ownTemplateText, precompiledTemplates } from './own-templates.js';
import { TemplateError } from './template-error.js';
import { PARTIALS, TEMPLATES, type TemplateName } from './template-names.js';
import { compileUserTemplate, OwnPartialError, templateMistake } from './user-template.js';

/** Renders one template with its view. */
export type Render = (view: object) => string;

/** Templates of the user's own folder: text by path below it, without extension. */
export type UserTemplates = ReadonlyMap<string, UserTemplate>;

interface UserTemplate {
  readonly file: string;
  readonly text: string;
}

/** A compiled template. The options are the ones that Handlebars passes to partials. */
type Template = (view: unknown, options?: Handlebars.RuntimeOptions) => string;

/**
 * The templates of one run: the user's where there is one, else this package's own, compiled by its build. The
 * compiler is loaded only if a text has to be compiled.
 */
export class Renderer {
  readonly #user: UserTemplates;
  readonly #precompiled: ReturnType<typeof precompiledTemplates>;
  #engine: typeof Handlebars | undefined;
  /** Of the view that is being rendered, for messages. */
  #viewName = '';
  /** File of the user's template that is running. */
  #running: string | undefined;
  /** Partials whose file is known. */
  readonly #partials = new WeakSet<Template>();

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

  /** A template whose mistakes are reported at its file. */
  #userTemplate(engine: typeof Handlebars, { file, text }: UserTemplate): Template {
    const template = compileUserTemplate(engine, file, text);
    return this.#known((view, options) => {
      const given = this.#given(options);
      return this.#within(file, () => template(bareView(view), given));
    });
  }

  #within(file: string, run: () => string): string {
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

  /** What a partial gets: blocks and inline partials run inside of it, but are text of the template that gives them. */
  #given(options: Handlebars.RuntimeOptions | undefined): Handlebars.RuntimeOptions | undefined {
    const giver = this.#running;
    if (giver === undefined || options === undefined) return options;
    const ofGiver = (run: unknown): unknown =>
      isTemplate(run) && !this.#partials.has(run)
        ? this.#known((view, more) => this.#within(giver, () => run(view, more)))
        : run;
    const partials = Object.entries(options.partials ?? {}).map(([name, run]) => [name, ofGiver(run)]);
    const data = { ...options.data, [BLOCK]: ofGiver(options.data?.[BLOCK]) };
    return { ...options, partials: Object.fromEntries(partials), data };
  }

  #known(template: Template): Template {
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
      engine.registerPartial(name, this.#known(ownPartial(name, this.#ownTemplate(engine, path))));
    }
    for (const [path, user] of this.#user) {
      if (!path.startsWith('partials/')) continue;
      engine.registerPartial(path.slice('partials/'.length), this.#userTemplate(engine, user));
    }
    this.#engine = engine;
    return engine;
  }
}

/** Where Handlebars keeps the block that stands between `{{#> name}}` and `{{/name}}`. */
const BLOCK = 'partial-block';

function isTemplate(value: unknown): value is Template {
  return typeof value === 'function';
}

/** The partial as it is; what it throws names it, for it may be a user's template that gave it the wrong view. */
function ownPartial(name: string, template: Template): Template {
  return (view, options) => {
    try {
      return template(view, options);
    } catch (error) {
      throw error instanceof TemplateError ? error : new OwnPartialError(name, error);
    }
  };
}

/**
 * Flattens the text. Until a character is read, V8 keeps the result of a template as a rope of hundreds of pieces.
 */
function inOnePiece(text: string): string {
  text.charCodeAt(0);
  return text;
}
