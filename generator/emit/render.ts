import type Handlebars from 'handlebars';
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
import {
  compileUserTemplate,
  OwnPartialError,
  TemplateError,
  templateMistake,
  type UserTemplate,
} from './user-template.js';

/** The user's templates by path below their folder, without extension. */
export type UserTemplates = ReadonlyMap<string, UserTemplate>;

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
  readonly #templates = new Map<TemplateName, Template>();
  /** Name of the current view, for messages. */
  #viewName = '';

  constructor(user: UserTemplates = new Map()) {
    this.#user = user;
    this.#precompiled = precompiledTemplates();
  }

  /** Renders a template, the user's if there is one. */
  render(name: TemplateName, view: object): string {
    const template = this.#templates.get(name) ?? this.#template(name);
    this.#templates.set(name, template);
    this.#viewName = TEMPLATES[name];
    try {
      return inOnePiece(template(view));
    } catch (error) {
      throw error instanceof OwnPartialError ? error.cause : error;
    }
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

  /** Returns a template whose mistakes are reported with their file. */
  #userTemplate(engine: typeof Handlebars, user: UserTemplate): Template {
    const template = compileUserTemplate(engine, user);
    return (view, options) => {
      try {
        return template(view, options);
      } catch (error) {
        if (error instanceof TemplateError) throw error;
        throw templateMistake(error, user.file, this.#viewName);
      }
    };
  }

  #engineWithPartials(): typeof Handlebars {
    if (this.#engine !== undefined) return this.#engine;
    const needsCompiler = this.#precompiled === undefined || this.#user.size > 0;
    const loaded: typeof Handlebars = needsCompiler ? loadHandlebars() : loadRuntime();
    const engine = loaded.create();
    for (const name of PARTIALS) {
      const path = `partials/${name}`;
      if (this.#user.has(path)) continue;
      engine.registerPartial(name, ownPartial(name, this.#ownTemplate(engine, path)));
    }
    for (const [path, user] of this.#user) {
      if (!path.startsWith('partials/')) continue;
      engine.registerPartial(path.slice('partials/'.length), this.#userTemplate(engine, user));
    }
    this.#engine = engine;
    return engine;
  }
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
