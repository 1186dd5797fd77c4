import { isDeepStrictEqual } from 'node:util';
import { compareText } from '../diagnostics.js';
import { isShape, type Shape } from '../schema/locked-type.js';
import type { JsonValue } from '../schema/project-schema.js';
import type { LockKind } from './lock-kind.js';

/** One version of an event or of an action's params, as the lock file contains it. */
export interface LockedVersion {
  /** Name of the event or action. */
  readonly name: string;
  readonly version: number;
  /** Several if both sides of a merge contain it and differ. */
  readonly shapes: readonly Shape[];
  /** Line of the last one in the file, from 1; undefined: it is new. */
  readonly line: number | undefined;
}

/** The content of a lock file, by name and version. */
export type ShapeLock = ReadonlyMap<string, LockedVersion>;

/** The text is not a lock file. */
export interface LockMistake {
  readonly line: number;
  readonly message: string;
}

export function lockKey(name: string, version: number): string {
  return `${name}@${version}`;
}

/** Prints a lock: one sorted line per version, so that branches that add versions can be merged. */
export function printLock(
  { about, group }: Pick<LockKind, 'about' | 'group'>,
  versions: Iterable<Omit<LockedVersion, 'line'>>,
): string {
  const lines = [...versions]
    .sort((a, b) => compareText(a.name, b.name) || a.version - b.version)
    .map(
      ({ name, version, shapes }) =>
        `    ${JSON.stringify(lockKey(name, version))}: ${JSON.stringify(shapes[0])}`,
    );
  return `{\n  "about": ${JSON.stringify(about)},\n  "format": 1,\n  "${group}": {\n${lines.join(',\n')}\n  }\n}\n`;
}

const ENTRY = /^\s*("(?:[^"\\]|\\.)+)@([1-9]\d{0,5})": (\{.*\}),?\s*$/;
const FRAME = /^\s*([{}]|"about": ".*",|"format": 1,|"(?:events|params|names)": \{)?\s*$/;
const MARKER = /^(<{7}|>{7}|\|{7})( |$)|^={7}$/;

/**
 * Parses a lock line by line: a text with merge conflict markers yields the versions of both sides. A text in another
 * format is refused.
 */
export function parseLock(text: string): ShapeLock | LockMistake {
  const lock = new Map<string, LockedVersion>();
  for (const [index, content] of text.split(/\r?\n/).entries()) {
    const [, quoted, version, json] = ENTRY.exec(content) ?? [];
    const name = parseJson(`${quoted}"`);
    if (typeof name !== 'string' || json === undefined) {
      if (FRAME.test(content) || MARKER.test(content)) continue;
      return { line: index + 1, message: 'This is not a line of a lock file' };
    }
    const shape = parseJson(json);
    if (!isShape(shape)) return { line: index + 1, message: 'This is not a JSON Schema' };
    add(lock, { name, version: Number(version), shapes: [shape], line: index + 1 });
  }
  return lock;
}

/** Parses JSON; undefined for a text with merge conflict markers, or a truncated text. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function add(lock: Map<string, LockedVersion>, entry: LockedVersion): void {
  const key = lockKey(entry.name, entry.version);
  const known = lock.get(key)?.shapes ?? [];
  const fresh = entry.shapes.filter((shape) => !known.some((each) => isDeepStrictEqual(each, shape)));
  lock.set(key, { ...entry, shapes: [...known, ...fresh] });
}
