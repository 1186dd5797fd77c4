import type { Entity } from '../../domain/entity.js';
import { heldKeys } from '../../domain/natural-key.js';

/** What is to become of one row. */
export interface KeyedChange {
  readonly kind: 'add' | 'update' | 'expect';
  readonly model: Entity;
  /** Names of the keys that the row held before. Default: none, or they are not known. */
  readonly heldBefore?: readonly string[] | undefined;
}

const NONE: readonly string[] = Object.freeze([]);

/**
 * In which order rows have to be written whose natural keys go from one to another: a unique index is checked row by
 * row, so a key must be free before it is taken.
 *
 * @returns the changes that give a key to another one or take one from it, each with its step from 0; empty if no key
 *   changes hands. Undefined if they give their keys to one another in a circle, which no order can do.
 */
export function handoverSteps<C extends KeyedChange>(
  changes: readonly C[],
): ReadonlyMap<C, number> | undefined {
  const givers = new Map<string, C>();
  for (const change of changes) {
    if (change.kind !== 'update' || change.heldBefore === undefined) continue;
    const kept = heldKeys(change.model);
    for (const key of change.heldBefore) if (!kept.includes(key)) givers.set(key, change);
  }
  const steps = new Map<C, number>();
  if (givers.size === 0) return steps;
  const open = new Set<C>();
  const visit = (change: C): number | undefined => {
    const known = steps.get(change);
    if (known !== undefined) return known;
    if (open.has(change)) return undefined;
    open.add(change);
    let step = 0;
    for (const giver of giversOf(change, givers)) {
      const before = visit(giver);
      if (before === undefined) return undefined;
      step = Math.max(step, before + 1);
    }
    steps.set(change, step);
    return step;
  };
  for (const change of changes) {
    for (const giver of giversOf(change, givers)) {
      if (visit(giver) === undefined || visit(change) === undefined) return undefined;
    }
  }
  return steps;
}

function giversOf<C extends KeyedChange>(change: C, givers: ReadonlyMap<string, C>): readonly C[] {
  if (change.kind === 'expect') return [];
  const before = change.heldBefore ?? NONE;
  return heldKeys(change.model).flatMap((key) => {
    const giver = before.includes(key) ? undefined : givers.get(key);
    return giver === undefined || giver === change ? [] : [giver];
  });
}
