import type Handlebars from 'handlebars';
import { type Diagnostic, type DiagnosticCode, diagnostic } from '../diagnostics.js';
import type { SourceLocation } from '../schema/location.js';
import { COMPILE_OPTIONS } from './own-templates.js';

/** A template of the user: its file, and its text. */
export interface UserTemplate {
  readonly file: string;
  readonly text: string;
}

/** A template of the user cannot be used. This is a mistake in the input, not a bug of the generator. */
export class TemplateError extends Error {
  readonly diagnostic: Diagnostic;

  constructor(code: DiagnosticCode, location: SourceLocation, message: string, hint: string) {
    super(message);
    this.diagnostic = diagnostic(code, location, message, hint);
  }
}

/** An error inside one of this package's partials. The cause may be the view that a template of the user passed. */
export class OwnPartialError extends Error {
  readonly partial: string;

  constructor(partial: string, cause: unknown) {
    super(messageOf(cause), { cause });
    this.partial = partial;
  }
}

/** A call of a partial with a block, or the definition of a partial inside of a template. */
const BLOCK_PARTIAL = /\{\{~?#[>*]/;

/** Compiles a template of the user. @throws TemplateError */
export function compileUserTemplate(
  engine: typeof Handlebars,
  { file, text }: UserTemplate,
): (view: unknown, options?: Handlebars.RuntimeOptions) => string {
  const block = BLOCK_PARTIAL.exec(text);
  if (block !== null) {
    // Handlebars reports lines without files, and a block runs inside of the partial that it is passed to.
    const line = text.slice(0, block.index).split('\n').length;
    const hint = 'Write a file in partials, and call it with {{> name}}.';
    throw new TemplateError('FWGEN042', { file, line, column: 1 }, `${block[0]} is not supported`, hint);
  }
  try {
    engine.precompile(text, COMPILE_OPTIONS);
  } catch (error) {
    const [message = '', ...rest] = messageOf(error).split('\n');
    const line = Number(/Parse error on line (\d+)/.exec(message)?.[1] ?? placeIn(message).line ?? 1);
    const what = withoutPlace(rest.at(-1) ?? message);
    throw new TemplateError('FWGEN042', { file, line, column: 1 }, what, CORRECT);
  }
  return engine.compile(text, COMPILE_OPTIONS);
}

const CORRECT = 'Correct the template.';

/** Converts an error of a template of the user to a diagnostic. @param view name of the rendered view */
export function templateMistake(error: unknown, file: string, view: string): TemplateError {
  const message = messageOf(error);
  const isInside = error instanceof OwnPartialError;
  const location = isInside ? { file } : { file, ...placeIn(message) };
  const missing = NOT_THERE.map((pattern) => pattern.exec(message)?.[1]).find((name) => name !== undefined);
  const speaker = isInside ? `The partial ${error.partial}` : 'The template';
  return missing === undefined
    ? new TemplateError('FWGEN042', location, `${speaker} fails: ${withoutPlace(message)}`, CORRECT)
    : new TemplateError(
        'FWGEN043',
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
function placeIn(message: string): Partial<SourceLocation> {
  const [, line, column] = PLACE.exec(message) ?? [];
  return line === undefined ? {} : { line: Number(line), column: Number(column) + 1 };
}
