import type Handlebars from 'handlebars';
import { helperMistake } from './check-helpers.js';
import { COMPILE_OPTIONS, loadHandlebars } from './own-templates.js';
import { TemplateError } from './template-error.js';

/** An error inside one of this package's partials. The cause may be the view that a template of the user passed. */
export class OwnPartialError extends Error {
  readonly partial: string;

  constructor(partial: string, cause: unknown) {
    super(messageOf(cause), { cause });
    this.partial = partial;
  }
}

/** Compiles a template of the user. @throws TemplateError */
export function compileUserTemplate(
  engine: typeof Handlebars,
  file: string,
  text: string,
): (view: unknown, options?: Handlebars.RuntimeOptions) => string {
  try {
    engine.precompile(text, COMPILE_OPTIONS);
  } catch (error) {
    const [message = '', ...rest] = messageOf(error).split('\n');
    const line = Number(/Parse error on line (\d+)/.exec(message)?.[1] ?? placeIn(message).line ?? 1);
    const what = withoutPlace(rest.at(-1) ?? message);
    throw new TemplateError('syntax', { file, line, column: 1 }, what, CORRECT);
  }
  // An engine made by `create` has no visitor class.
  const mistake = helperMistake(loadHandlebars(), text);
  if (mistake !== undefined) {
    const { line, column, message } = mistake;
    throw new TemplateError('syntax', { file, line, column }, message, CORRECT);
  }
  return engine.compile(text, COMPILE_OPTIONS);
}

const CORRECT = 'Correct the template.';

/** Converts an error of a template of the user to a diagnostic. @param viewName of the rendered view */
export function templateMistake(error: unknown, file: string, viewName: string): TemplateError {
  const message = messageOf(error);
  const isInside = error instanceof OwnPartialError;
  const location = isInside ? { file } : { file, ...placeIn(message) };
  const missing = NOT_THERE.map((pattern) => pattern.exec(message)?.[1]).find((name) => name !== undefined);
  const speaker = isInside ? `The partial ${error.partial}` : 'The template';
  return missing === undefined
    ? new TemplateError('syntax', location, `${speaker} fails: ${withoutPlace(message)}`, CORRECT)
    : new TemplateError(
        'missing',
        location,
        `${speaker} uses ${JSON.stringify(missing)}, which is not in its view ${viewName}`,
        'docs/reference/views.md lists the names of each view.',
      );
}

/** Messages about missing names. The last one is the engine's, if the value is not an object. */
const NOT_THERE: readonly RegExp[] = [
  /^"(.*)" not defined in/,
  /^The partial (.*) could not be found/,
  /^Cannot use 'in' operator to search for '(.*?)' in/,
];

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const PLACE = / - (\d+):(\d+)$/;

function withoutPlace(message: string): string {
  return message.replace(PLACE, '');
}

/** Handlebars appends `line:column` to its messages, with columns from 0. */
function placeIn(message: string): { readonly line?: number; readonly column?: number } {
  const [, line, column] = PLACE.exec(message) ?? [];
  return line === undefined ? {} : { line: Number(line), column: Number(column) + 1 };
}
