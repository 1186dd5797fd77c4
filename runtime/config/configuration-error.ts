import { FwError } from '../errors.js';

/** One mistake in a configuration. */
interface ConfigurationProblem {
  /** The file name that the caller passed; undefined for a configuration built in code. */
  readonly file: string | undefined;
  /** 1-based; undefined if the file could not be read, or for a configuration built in code. */
  readonly line: number | undefined;
  /** 1-based, in UTF-16 code units; undefined exactly when `line` is. */
  readonly column: number | undefined;
  /** The key's path as written, such as `fw.sharding.groups[0].name`; empty for the whole configuration. */
  readonly path: string;
  /** The mistake. Never contains a password, or a value from the environment or a secret file. */
  readonly message: string;
  /** How to fix it, without final punctuation. */
  readonly hint?: string;
}

/** The configuration is invalid; contains all problems. Nothing of it took effect; no database was opened. */
export class ConfigurationError extends FwError {
  readonly code = 'FW_CONFIGURATION';
  /** In the order of the file. Never empty. */
  readonly problems: readonly ConfigurationProblem[];
  /** Number of further problems that are left out of `problems`, to keep the list readable. */
  readonly omitted: number;

  constructor(problems: readonly ConfigurationProblem[], omitted = 0) {
    super(formatProblems(problems, omitted));
    this.problems = Object.freeze([...problems]);
    this.omitted = omitted;
  }
}

/** Formats a problem as `file:line:column path: message (hint)`, without the unknown parts. */
export function formatProblem(problem: ConfigurationProblem): string {
  const { file, line, column, path, message, hint } = problem;
  const position = file === undefined ? '' : line === undefined ? file : `${file}:${line}:${column}`;
  const place = [position, path].filter((part) => part !== '').join(' ');
  return `${place === '' ? '' : `${place}: `}${message}${hint === undefined ? '' : ` (${hint})`}`;
}

function formatProblems(problems: readonly ConfigurationProblem[], omitted: number): string {
  const count = problems.length + omitted;
  const title = `The configuration has ${count === 1 ? 'a problem' : `${count} problems`}:`;
  const more = omitted === 0 ? [] : [`... and ${omitted} more`];
  return [title, ...problems.map(formatProblem), ...more].join('\n');
}
