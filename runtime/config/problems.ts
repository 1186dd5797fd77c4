import { LineCounter } from 'yaml';
import { ConfigurationError } from './configuration-error.js';

/** Maximum number of reported problems: a hostile file could have a million. */
const MAXIMUM_REPORTED = 100;

/** A mistake and its fix, before its position is known. */
export interface Mistake {
  readonly message: string;
  readonly hint?: string | undefined;
  /** Set if the value lacks a variable or a file of the environment that runs the application. */
  readonly unset?: 'value' | 'secret';
}

/** The position of a value: its key path and, in a file, the offset of its first character. */
export interface Place {
  readonly path: string;
  readonly offset: number | undefined;
}

/** The text in which problems are located. */
export interface ProblemSource {
  readonly file: string;
  readonly text: string;
}

interface Entry {
  readonly place: Place;
  readonly mistake: Mistake;
}

/** Collects problems, so that one run reports them all. */
export class Problems {
  readonly #source: ProblemSource | undefined;
  #entries: Entry[] = [];

  /** @param source absent for a configuration built in code */
  constructor(source?: ProblemSource) {
    this.#source = source;
  }

  /** Number of problems so far. */
  get count(): number {
    return this.#entries.length;
  }

  /** Whether callers can spare hints: there are as many problems as one report shows. */
  get full(): boolean {
    return this.count >= MAXIMUM_REPORTED;
  }

  add(place: Place, mistake: Mistake): void {
    this.#entries.push({ place, mistake });
  }

  /**
   * Drops the problems of unused values if one of these values is unset: a rule may concern several values.
   *
   * @param used paths of the values and sections that the caller uses
   * @param withoutSecrets whether unset secrets are dropped, wherever they are
   */
  ignoreUnset(used: readonly string[], withoutSecrets: boolean): void {
    const isUsed = ({ place: { path } }: Entry): boolean =>
      !path.startsWith('fw.') || used.some((each) => path === each || path.startsWith(`${each}.`));
    const others = this.#entries.filter(({ mistake: { unset } }) => !withoutSecrets || unset !== 'secret');
    const isUnset = this.#entries.some((entry) => entry.mistake.unset !== undefined && !isUsed(entry));
    this.#entries = isUnset ? others.filter(isUsed) : others;
  }

  /** @throws ConfigurationError if there are problems */
  throwIfAny(): void {
    if (this.count === 0) return;
    const lines = this.#source && linesOf(this.#source.text);
    const problems = [...this.#entries]
      .sort((a, b) => (a.place.offset ?? 0) - (b.place.offset ?? 0))
      .slice(0, MAXIMUM_REPORTED)
      .map(({ place, mistake }): ConfigurationError['problems'][number] => {
        const position = place.offset === undefined ? undefined : lines?.linePos(place.offset);
        return Object.freeze({
          file: this.#source?.file,
          line: position?.line,
          column: position?.col,
          path: place.path,
          message: mistake.message,
          ...(mistake.hint === undefined ? {} : { hint: mistake.hint }),
        });
      });
    throw new ConfigurationError(problems, this.count - problems.length);
  }
}

/** Lines and columns by offset, both counted from 1. */
function linesOf(text: string): LineCounter {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (const { index } of text.matchAll(/\n/g)) lines.addNewLine(index + 1);
  return lines;
}
