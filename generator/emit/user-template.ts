import type Handlebars from 'handlebars';
import { defined } from '../schema/defined.js';
import type { SourceLocation } from '../schema/location.js';
import { helperMistake, visit } from './check-helpers.js';
import { COMPILE_OPTIONS, loadHandlebars } from './own-templates.js';
import { TemplateError } from './template-error.js';

/** A template of the user: its file, and its text. */
export interface UserTemplate {
  readonly file: string;
  readonly text: string;
}

/** An error inside one of this package's partials. The cause may be the view that a template of the user passed. */
export class OwnPartialError extends Error {
  readonly partial: string;

  constructor(partial: string, cause: unknown) {
    super(messageOf(cause), { cause });
    this.partial = partial;
  }
}

/** Handlebars reports positions without files, so each line of a template also has the number of its file. */
const LINES = 1_000_000;

/** Compiles a template of the user. @param files of all templates @throws TemplateError */
export function compileUserTemplate(
  engine: typeof Handlebars,
  { file, text }: UserTemplate,
  files: readonly string[],
): (view: unknown, options?: Handlebars.RuntimeOptions) => string {
  try {
    engine.precompile(text, COMPILE_OPTIONS);
  } catch (error) {
    const [message = '', ...rest] = messageOf(error).split('\n');
    const line = Number(/Parse error on line (\d+)/.exec(message)?.[1] ?? placeIn(message, files).line ?? 1);
    const what = withoutPlace(rest.at(-1) ?? message);
    throw new TemplateError('syntax', { file, line, column: 1 }, what, CORRECT);
  }
  // An engine made by `create` has no visitor class.
  const handlebars = loadHandlebars();
  const program = handlebars.parse(text);
  const mistake = helperMistake(handlebars, program);
  if (mistake !== undefined) {
    const { line, column, message } = mistake;
    throw new TemplateError('syntax', { file, line, column }, message, CORRECT);
  }
  const offset = (files.indexOf(file) + 1) * LINES;
  visit(handlebars, program, ({ loc: { start } }) => {
    if (start.line < LINES) start.line += offset;
  });
  return engine.compile(program, COMPILE_OPTIONS);
}

const CORRECT = 'Correct the template.';

/**
 * Converts an error of a template of the user to a diagnostic.
 *
 * @param file of the template, for an error without a position
 * @param view name of the rendered view
 */
export function templateMistake(
  error: unknown,
  { file, files, view }: { readonly file: string; readonly files: readonly string[]; readonly view: string },
): TemplateError {
  const message = messageOf(error);
  const isInside = error instanceof OwnPartialError;
  const location = isInside ? { file } : { file, ...placeIn(message, files) };
  const missing = NOT_THERE.map((pattern) => pattern.exec(message)?.[1]).find((name) => name !== undefined);
  const speaker = isInside ? `The partial ${error.partial}` : 'The template';
  return missing === undefined
    ? new TemplateError('syntax', location, `${speaker} fails: ${withoutPlace(message)}`, CORRECT)
    : new TemplateError(
        'missing',
        location,
        `${speaker} uses ${JSON.stringify(missing)}, which is not in its view ${view}`,
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
function placeIn(message: string, files: readonly string[]): Partial<SourceLocation> {
  const [, line, column] = PLACE.exec(message) ?? [];
  if (line === undefined) return {};
  const file = files[Math.floor(Number(line) / LINES) - 1];
  return { ...defined({ file }), line: Number(line) % LINES, column: Number(column) + 1 };
}
