import type { Entity } from '../../domain/entity.js';
import { heldKeys } from '../../domain/natural-key.js';

/** The change of one row and its natural keys. */
export interface KeyedChange {
  readonly kind: 'add' | 'update' | 'expect';
  readonly model: Entity;
  /** Names of the keys that the row held before. Default: none, or unknown. */
  readonly heldBefore?: readonly string[] | undefined;
}

const NONE: readonly string[] = Object.freeze([]);

/**
 * The order in which rows must be written if a natural key moves from one to another. A unique index is checked row by
 * row, so a key must be released before it is taken.
 *
 * @returns the changes that release or take such a key, each with its step from 0; empty if no key moves. Undefined if
 * keys move in a circle, for which there is no order
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
