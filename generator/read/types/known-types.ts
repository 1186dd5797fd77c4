import type { KnownType } from '../read-context.js';
import type { Reading } from './reading.js';
import { hasAnyAgain } from './recursion.js';
import type { ReadType } from './type-results.js';

/** Reads a declaration, or returns its result from another place of the same run if the result would be the same. */
export function readOnce(reading: Reading, key: string, read: (reading: Reading) => ReadType): ReadType {
  const { context, use, budget, depth } = reading;
  const known = context.types.get(`${use} ${key}`);
  if (known !== undefined && isSameHere(known, reading)) {
    budget.left -= known.cost;
    context.sources.noteRequests(known.requested);
    for (const each of known.opened) reading.opened.add(each);
    return known.result;
  }
  const [left, mistakes] = [budget.left, context.diagnostics.length];
  const opened = new Set<string>();
  const { result, requested } = context.sources.trackRequests(() => read({ ...reading, opened }));
  for (const each of opened) reading.opened.add(each);
  // Each place reports its mistakes, and the meaning of `again` depends on the place. Neither is reused.
  const isLasting =
    result.type.kind !== 'unsupported' &&
    context.diagnostics.length === mistakes &&
    budget.left >= 0 &&
    !hasAnyAgain(result.type);
  if (isLasting)
    context.types.set(`${use} ${key}`, { result, requested, opened, cost: left - budget.left, depth });
  return result;
}

function isSameHere(known: KnownType, { open, depth, budget }: Reading): boolean {
  if (depth > known.depth || budget.left < known.cost) return false;
  for (const key of open.keys()) if (known.opened.has(key)) return false;
  return true;
}
