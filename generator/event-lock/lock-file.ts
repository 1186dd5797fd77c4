import { compareText } from '../diagnostics.js';
import type { JsonValue } from '../schema/json-value.js';
import type { Shape } from './event-shape.js';
import { isSame, isShape } from './shape-changes.js';

/** File in the migrations folder that holds the shape of every version of every event. It is committed. */
export const LOCK_NAME = 'events.lock';

/** One version of an event, as the file has it. */
export interface LockedVersion {
  readonly event: string;
  readonly version: number;
  /** More than one if both sides of a merge have it, and differ. */
  readonly shapes: readonly Shape[];
  /** Of the last one in the file, from 1; undefined where the file was formatted by somebody else. */
  readonly line: number | undefined;
}

/** What a lock file says, by event and version. */
export type EventLock = ReadonlyMap<string, LockedVersion>;

/** The text is no lock file. */
export interface LockMistake {
  readonly line: number;
  readonly message: string;
}

export function lockKey(event: string, version: number): string {
  return `${event}@${version}`;
}

/** Prints a lock: one line per version, sorted, so that branches that add events merge. */
export function printLock(versions: Iterable<Omit<LockedVersion, 'line'>>): string {
  const lines = [...versions]
    .sort((a, b) => compareText(a.event, b.event) || a.version - b.version)
    .map(
      ({ event, version, shapes }) =>
        `    ${JSON.stringify(lockKey(event, version))}: ${JSON.stringify(shapes[0])}`,
    );
  return `{\n  "about": ${JSON.stringify(ABOUT)},\n  "format": 1,\n  "events": {\n${lines.join(',\n')}\n  }\n}\n`;
}

const ABOUT =
  'JSON Schema of every version of every event: what is stored can be read for ever. fw-gen adds to it; commit it.';

const ENTRY = /^\s*"([^"@\\]+)@([1-9]\d{0,5})": (\{.*\}),?\s*$/;
const FRAME = /^\s*([{}]|"about": ".*",|"format": 1,|"events": \{)?\s*$/;
const MARKER = /^(<{7}|>{7}|\|{7})( |$)|^={7}$/;

/**
 * Reads a lock. One with the conflict markers of a merge is read line by line and gives what both sides have; one that
 * a formatter has put into another form is read as any JSON.
 */
export function parseLock(text: string): EventLock | LockMistake {
  const byLine = parseLines(text);
  if (!('message' in byLine)) return byLine;
  return isJson(text) ? (parseJson(JSON.parse(text) as JsonValue) ?? byLine) : byLine;
}

/** False for a text with both sides of a merge in it, or cut short. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function parseLines(text: string): EventLock | LockMistake {
  const lock = new Map<string, LockedVersion>();
  for (const [index, content] of text.split(/\r?\n/).entries()) {
    const [, event, version, json] = ENTRY.exec(content) ?? [];
    if (event === undefined || json === undefined) {
      if (FRAME.test(content) || MARKER.test(content)) continue;
      return { line: index + 1, message: 'This is no line of a lock file' };
    }
    const shape = parseShape(json);
    if (shape === undefined) return { line: index + 1, message: 'This is no JSON Schema' };
    add(lock, { event, version: Number(version), shapes: [shape], line: index + 1 });
  }
  return lock;
}

function parseJson(json: JsonValue): EventLock | undefined {
  if (!isShape(json) || json['format'] !== 1 || !isShape(json['events'])) return undefined;
  const lock = new Map<string, LockedVersion>();
  for (const [key, shape] of Object.entries(json['events'])) {
    const [, event, version] = /^([^@]+)@([1-9]\d{0,5})$/.exec(key) ?? [];
    if (event === undefined || !isShape(shape)) return undefined;
    add(lock, { event, version: Number(version), shapes: [shape], line: undefined });
  }
  return lock;
}

function add(lock: Map<string, LockedVersion>, entry: LockedVersion): void {
  const key = lockKey(entry.event, entry.version);
  const known = lock.get(key)?.shapes ?? [];
  const fresh = entry.shapes.filter((shape) => !known.some((each) => isSame(each, shape)));
  lock.set(key, { ...entry, shapes: [...known, ...fresh] });
}

function parseShape(json: string): Shape | undefined {
  try {
    const value = JSON.parse(json) as JsonValue;
    return isShape(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
