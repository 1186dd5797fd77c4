import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { type Diagnostic, diagnostic } from '../diagnostics.js';
import type { SourceLocation } from '../schema/location.js';
import type { ProjectPaths } from '../schema/paths.js';
import type { EventSchema } from '../schema/project-schema.js';
import { isSystemError } from '../system-error.js';
import { eventShape, type Shape } from './event-shape.js';
import {
  type EventLock,
  isJson,
  LOCK_NAME,
  type LockedVersion,
  lockKey,
  parseLock,
  printLock,
} from './lock-file.js';
import { type BreakingChange, breakingChanges, isSame } from './shape-changes.js';

/** What a project's events make of its lock file. */
export interface LockedEvents {
  /** Project-relative path of the file, whether it is there or not. */
  readonly path: string;
  /** What it is to hold; undefined if it says all of it already, or there is nothing to say. */
  readonly text: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** Which event causes which line of `text`, from 0. */
  readonly origins: readonly (SourceLocation | undefined)[];
}

/** Project-relative path of a project's lock file. */
export function lockPath({ migrations }: ProjectPaths): string {
  return posix.join(migrations, LOCK_NAME);
}

/** Text of a project's lock file; undefined if there is none. @throws the error of the file system */
export function readLock(projectDirectory: string, paths: ProjectPaths): string | undefined {
  const file = join(projectDirectory, lockPath(paths));
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** Holds the events of a project against its lock file. Changes nothing. */
export function lockEvents(
  projectDirectory: string,
  paths: ProjectPaths,
  events: readonly EventSchema[],
): LockedEvents {
  const path = lockPath(paths);
  const nothing = { path, text: undefined, origins: [] };
  let before: string | undefined;
  try {
    before = readLock(projectDirectory, paths);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const message = `Cannot read the lock of events: ${error.code}`;
    return {
      ...nothing,
      diagnostics: [diagnostic('FWGEN038', { file: path }, message, 'Check its permissions.')],
    };
  }
  const lock = before === undefined ? new Map<string, LockedVersion>() : parseLock(before);
  if ('message' in lock) {
    return {
      ...nothing,
      diagnostics: [diagnostic('FWGEN050', { file: path, line: lock.line }, lock.message, MEND)],
    };
  }
  const present = presentVersions(events);
  const last = lastVersions(lock);
  const diagnostics: Diagnostic[] = [];
  for (const each of present) diagnostics.push(...checkEvent(each, lock, last.get(each.event.name) ?? 0));
  diagnostics.push(...contradictions(events, lock, path));
  if (diagnostics.length > 0) return { ...nothing, diagnostics };
  const wanted = new Map(lock);
  for (const { event, version, key, shape } of present) {
    wanted.set(key, { event: event.name, version, shapes: [shape], line: undefined });
  }
  if (saysTheSame(lock, wanted) && (before === undefined || isJson(before)))
    return { ...nothing, diagnostics };
  const text = printLock(wanted.values());
  return { path, text, diagnostics, origins: originsOf(text, events) };
}

/** An event as its class declares it now. */
interface PresentVersion {
  readonly event: EventSchema;
  readonly version: number;
  /** Of the lock's entry. */
  readonly key: string;
  readonly shape: Shape;
}

function presentVersions(events: readonly EventSchema[]): readonly PresentVersion[] {
  return events.map((event) => {
    const { name, version = 1 } = event;
    return { event, version, key: lockKey(name, version), shape: eventShape(event) };
  });
}

/** The highest version of each event that a lock holds. */
function lastVersions(lock: EventLock): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  for (const { event, version } of lock.values()) last.set(event, Math.max(version, last.get(event) ?? 0));
  return last;
}

const MEND =
  'Restore the file from version control, or take one side of a merge as it is, then run fw-gen generate.';

function saysTheSame(lock: EventLock, wanted: EventLock): boolean {
  return (
    lock.size === wanted.size &&
    [...wanted].every(([key, { shapes }]) => {
      const known = lock.get(key)?.shapes;
      return known?.length === 1 && isSame(known[0], shapes[0]);
    })
  );
}

/** @param last highest version of the event in the lock, 0 for none */
function checkEvent(
  { event, version, key, shape }: PresentVersion,
  lock: EventLock,
  last: number,
): readonly Diagnostic[] {
  const { name, location } = event;
  if (version < last || (last > 0 && version > last + 1)) {
    const next = last + 1;
    const message = `${name} has version ${version}, and the last one in the lock is ${last}`;
    return [
      diagnostic(
        'FWGEN048',
        location,
        message,
        `Write @version ${last}, or ${next} if its shape has changed.`,
      ),
    ];
  }
  const broken = (lock.get(key)?.shapes ?? [])
    .flatMap((locked) => breakingChanges(locked, shape))
    .map((change) => brokenBy(event, version, change));
  return [...broken, ...checkUpcasters(event, version)];
}

function brokenBy(event: EventSchema, version: number, { path, what }: BreakingChange): Diagnostic {
  const field = event.fields.find(({ name }) => name === path[0]);
  return diagnostic(
    'FWGEN048',
    field?.location ?? event.location,
    `Version ${version} of ${event.name} is locked, and its field ${path.join('.')} ${what}`,
    `Take that back, or write @version ${version + 1} and an upcaster that leads there from version ${version}.`,
  );
}

function checkUpcasters({ name, location, upcasters }: EventSchema, version: number): readonly Diagnostic[] {
  if (upcasters === 'uncounted' || upcasters >= version - 1) return [];
  const found = upcasters === 0 ? 'no upcasters' : `${upcasters} of ${version - 1} upcasters`;
  return [
    diagnostic(
      'FWGEN049',
      location,
      `${name} has version ${version} and ${found}`,
      'Write `static readonly upcasters: readonly Upcaster[] = [...]`: one function for each older version, from 1 on, that turns its payload into that of the next.',
    ),
  ];
}

/** Versions that both sides of a merge have and that no source can tell any more. */
function contradictions(
  events: readonly EventSchema[],
  lock: EventLock,
  file: string,
): readonly Diagnostic[] {
  const present = new Set(events.map(({ name, version = 1 }) => lockKey(name, version)));
  return [...lock].flatMap(([key, { shapes, line, event, version }]) =>
    shapes.length < 2 || present.has(key)
      ? []
      : diagnostic(
          'FWGEN050',
          { file, ...(line === undefined ? {} : { line }) },
          `Two shapes are given for version ${version} of ${event}, which no source declares any more`,
          'Leave the one that was released, and delete the other.',
        ),
  );
}

function originsOf(text: string, events: readonly EventSchema[]): readonly (SourceLocation | undefined)[] {
  const places = new Map(events.map(({ name, version = 1, location }) => [lockKey(name, version), location]));
  return text.split('\n').map((line) => places.get(/^ {4}"([^"]+)": /.exec(line)?.[1] ?? ''));
}
