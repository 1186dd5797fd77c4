import type Handlebars from 'handlebars';
import { loadHandlebars } from './built-parts.js';
import { helperMistake } from './check-helpers.js';
import { COMPILE_OPTIONS } from './compile-options.js';
import { TemplateError } from './template-error.js';

/**
 * What one of this package's partials threw: a mistake of the user's template that gave it its view, if there is one.
 */
export class OwnPartialError extends Error {
  readonly partial: string;

  constructor(partial: string, cause: unknown) {
    super(messageOf(cause), { cause });
    this.partial = partial;
  }
}

/** Compiles a template of the user's. @throws TemplateError */
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
  // An engine that was created has no visitors of its own.
  const mistake = helperMistake(loadHandlebars(), text);
  if (mistake !== undefined) {
    const { line, column, message } = mistake;
    throw new TemplateError('syntax', { file, line, column }, message, CORRECT);
  }
  return engine.compile(text, COMPILE_OPTIONS);
}

const CORRECT = 'Correct the template.';

/** What a template of the user's threw when it was rendered. @param viewName of the view that was rendered */
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
        `${speaker} speaks of ${JSON.stringify(missing)}, which its view ${viewName} does not have`,
        'See docs/templates.md for what the view holds.',
      );
}

/** What Handlebars, and the engine for a name of what is no object, say. */
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

/** Handlebars puts `line:column`, the column from 0, behind its messages. */
function placeIn(message: string): { readonly line?: number; readonly column?: number } {
  const [, line, column] = PLACE.exec(message) ?? [];
  return line === undefined ? {} : { line: Number(line), column: Number(column) + 1 };
}
