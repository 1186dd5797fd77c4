import { isDeepStrictEqual } from 'node:util';
import { type Diagnostic, diagnostic } from '../diagnostics.js';
import { defined } from '../schema/defined.js';
import type { SourceLocation } from '../schema/location.js';
import { type LockedType, lockedTypeName, type Shape } from '../schema/locked-type.js';
import { type LockedVersion, lockKey, parseJson, parseLock, printLock, type ShapeLock } from './lock-file.js';
import type { Lockable, LockedSchema, LockKind, LockText } from './lock-kind.js';
import { type BreakingChange, breakingChanges } from './shape-changes.js';
import { storedShape } from './stored-shape.js';

/** The new text of a lock file. */
export interface LockedFile {
  /** Project-relative path. */
  readonly path: string;
  readonly text: string;
  /** The declaration that causes each line of `text`, from 0. */
  readonly origins: readonly (SourceLocation | undefined)[];
}

/** The result of comparing a project with its lock files. */
export interface LockedShapes {
  /** The files that are not up to date. */
  readonly files: readonly LockedFile[];
  readonly diagnostics: readonly Diagnostic[];
  /** Classes with more than one version. */
  readonly types: readonly LockedType[];
}

/** Entries, as `file key`, that earlier runs of a watching process have added to the lock files. */
export type LockDrafts = Set<string>;

/**
 * Compares the events, stored params and stored names of a project with its lock files.
 *
 * @param drafts of earlier runs; extended. A draft whose name is gone was a name of a moment, and leaves the lock.
 */
export function lockShapes(
  locks: readonly LockText[],
  schema: LockedSchema,
  drafts: LockDrafts = new Set(),
): LockedShapes {
  const locked = locks.map((lock) => lockKindOf(lock, schema, drafts));
  return {
    files: locked.flatMap(({ files }) => files),
    diagnostics: locked.flatMap(({ diagnostics }) => diagnostics),
    types: locked.flatMap(({ types }) => types),
  };
}

function lockKindOf(
  { kind, path, text: before }: LockText,
  schema: LockedSchema,
  drafts: LockDrafts,
): LockedShapes {
  const failed = (...diagnostics: readonly Diagnostic[]): LockedShapes => ({
    files: [],
    diagnostics,
    types: [],
  });
  const stored = before === undefined ? new Map<string, LockedVersion>() : parseLock(before);
  if ('message' in stored)
    return failed(diagnostic('FWGEN050', { file: path, line: stored.line }, stored.message, MEND));
  const lockables = kind.lockables(schema);
  const declared = lockables.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  const known = new Set([...declared, ...(kind.declared?.(schema) ?? [])]);
  const isDraft = (key: string): boolean => drafts.has(`${path} ${key}`);
  const kept = [...stored].filter(([key, { name }]) => known.has(name) || !isDraft(key));
  const lock = withAliases(new Map(kept), lockables);
  const present = presentVersions(lockables);
  const last = lastVersions(lock);
  const diagnostics = [
    ...present.flatMap((each) => checkShape(kind, each, lock, last.get(each.lockable.name) ?? 0)),
    ...contradictions(kind, present, lock, path),
    ...undeclared(kind, known, lock, path),
  ];
  if (diagnostics.length > 0) return failed(...diagnostics);
  const wanted = new Map(lock);
  for (const { lockable, version, key, shape } of present) {
    if (!lock.has(key)) drafts.add(`${path} ${key}`);
    wanted.set(key, { name: lockable.name, version, shapes: [shape], line: undefined });
  }
  const types = lockedTypes(kind, present, wanted);
  if (saysTheSame(stored, wanted) && (before === undefined || parseJson(before) !== undefined))
    return { files: [], diagnostics, types };
  const text = printLock(kind, wanted.values());
  return { files: [{ path, text, origins: originsOf(text, present) }], diagnostics, types };
}

/** A lock in which the versions of earlier names are also versions of the current name. */
function withAliases(lock: ShapeLock, lockables: readonly Lockable[]): ShapeLock {
  const names = new Map(lockables.flatMap(({ name, aliases = [] }) => aliases.map((alias) => [alias, name])));
  if (names.size === 0) return lock;
  const renamed = [...lock.values()].flatMap((entry) => {
    const name = names.get(entry.name);
    return name === undefined ? [] : [[lockKey(name, entry.version), { ...entry, name }] as const];
  });
  return new Map([...renamed, ...lock]);
}

/** Reports names whose class is gone: what is stored under them would never be handled. */
function undeclared(
  { keep, object }: LockKind,
  known: ReadonlySet<string>,
  lock: ShapeLock,
  file: string,
): readonly Diagnostic[] {
  const last = lastVersions(lock);
  return [...lock.values()].flatMap(({ name, version, shapes, line }) => {
    const isAcknowledged = shapes.some(({ deprecated }) => deprecated === true);
    if (known.has(name) || version !== last.get(name) || isAcknowledged) return [];
    const message = `The file has ${object(name)}, but no class has this name`;
    const hint = `If the class was renamed, write ${keep(name)}. If it was never released, delete the line. If it was removed and nothing stored under its name waits, add "deprecated": true to the line.`;
    return diagnostic('FWGEN063', defined({ file, line }), message, hint);
  });
}

function lockedTypes(
  { of }: LockKind,
  present: readonly PresentVersion[],
  lock: ShapeLock,
): readonly LockedType[] {
  return present
    .filter(({ version }) => version > 1)
    .map(({ lockable: { name, className }, version }) => ({
      of,
      className,
      versions: Array.from({ length: version }, (_, index) => lock.get(lockKey(name, index + 1))?.shapes[0]),
    }));
}

/** The current version of a class. */
interface PresentVersion {
  readonly lockable: Lockable;
  readonly version: number;
  /** Key of its entry in the lock. */
  readonly key: string;
  readonly shape: Shape;
}

function presentVersions(lockables: readonly Lockable[]): readonly PresentVersion[] {
  return lockables.map((lockable) => {
    const { name, version = 1 } = lockable;
    return { lockable, version, key: lockKey(name, version), shape: storedShape(lockable) };
  });
}

/** Returns the highest version of each name in a lock. */
function lastVersions(lock: ShapeLock): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  for (const { name, version } of lock.values()) last.set(name, Math.max(version, last.get(name) ?? 0));
  return last;
}

const MEND =
  'Restore the file from version control. After a merge conflict, keep one side completely. Then run fw-gen generate.';

function saysTheSame(lock: ShapeLock, wanted: ShapeLock): boolean {
  return (
    lock.size === wanted.size &&
    [...wanted].every(([key, { shapes }]) => {
      const known = lock.get(key)?.shapes;
      return known?.length === 1 && isDeepStrictEqual(known[0], shapes[0]);
    })
  );
}

/** @param last highest version of the name in the lock; 0 if there is none */
function checkShape(
  kind: LockKind,
  { lockable, version, key, shape }: PresentVersion,
  lock: ShapeLock,
  last: number,
): readonly Diagnostic[] {
  const { name, location, fields } = lockable;
  if (version < last || (last > 0 && version > last + 1)) {
    const message = `The source has version ${version} of ${kind.object(name)}, but the last version in ${kind.fileName} is ${last}`;
    const hint = `Write @version ${last}, or ${last + 1} if its shape has changed.`;
    return [diagnostic('FWGEN048', location, message, hint)];
  }
  const shapes = lock.get(key)?.shapes ?? [];
  const mend =
    shapes.length > 1
      ? `${kind.fileName} has two shapes of this version, as after a merge. Delete the line that was not released; its change is version ${version + 1}.`
      : `Revert the change, or write @version ${version + 1} and an upcaster from version ${version}.`;
  const broken = shapes
    .flatMap((locked) => (locked === shape || fields === undefined ? [] : breakingChanges(locked, shape)))
    .map((change) => brokenBy(kind, lockable, version, { ...change, mend }));
  const moved = shapes.flatMap(({ model: before }) =>
    typeof before !== 'string' || lockable.model === before ? [] : movedFrom(lockable, before),
  );
  return [...broken, ...moved, ...checkUpcasters(kind, lockable, version)];
}

function brokenBy(
  kind: LockKind,
  { name: owner, fields = [], location }: Lockable,
  version: number,
  { path, what, mend }: BreakingChange & { readonly mend: string },
): Diagnostic {
  const field = fields.find(({ name }) => name === path[0]);
  const message = `Version ${version} of ${kind.object(owner)} is released, but its field ${path.join('.')} ${what}`;
  return diagnostic('FWGEN048', field?.location ?? location, message, mend);
}

function movedFrom({ name, model = '', location }: Lockable, before: string): Diagnostic {
  const message = `${name} belonged to the model ${before} and now belongs to ${model}`;
  const hint = `If the model was renamed, write \`@AutoBuilder({ name: '${before}' })\` on it. Otherwise write another event class.`;
  return diagnostic('FWGEN063', location, message, hint);
}

function checkUpcasters(
  kind: LockKind,
  { name, className, location, upcasters }: Lockable,
  version: number,
): readonly Diagnostic[] {
  if (upcasters === 'uncounted' || upcasters >= version - 1) return [];
  const found = upcasters === 0 ? 'no upcasters' : `${upcasters} of ${version - 1} upcasters`;
  const type = `${lockedTypeName({ of: kind.of, className })}Upcasters`;
  const message = `The source has version ${version} of ${kind.object(name)}, but ${found}`;
  const hint = `Write \`static readonly upcasters: ${type} = [...]\`: one function per older version, starting with 1, that converts its stored form to the next version. The type comes from the generated \`versions.ts\`.`;
  return [diagnostic('FWGEN049', location, message, hint)];
}

/** Reports versions that a merge left with two shapes, and that no source declares any more. */
function contradictions(
  kind: LockKind,
  present: readonly PresentVersion[],
  lock: ShapeLock,
  file: string,
): readonly Diagnostic[] {
  const declared = new Set(present.map(({ key }) => key));
  return [...lock].flatMap(([key, { shapes, line, name, version }]) => {
    if (shapes.length < 2 || declared.has(key)) return [];
    const message = `The file has two shapes of version ${version} of ${kind.object(name)}, which no source declares any more`;
    const hint = 'Keep the one that was released, and delete the other.';
    return diagnostic('FWGEN050', defined({ file, line }), message, hint);
  });
}

function originsOf(
  text: string,
  present: readonly PresentVersion[],
): readonly (SourceLocation | undefined)[] {
  const places = new Map(present.map(({ key, lockable }) => [JSON.stringify(key), lockable.location]));
  return text.split('\n').map((line) => places.get(/^ {4}(".+?@\d+"): \{/.exec(line)?.[1] ?? ''));
}
