import type { DatabaseRegistry } from '../database-registry.js';
import { wrappedRegistry } from './wrapped-registry.js';

/** Statements that a counting registry has sent. */
export interface StatementCounts {
  started: number;
  mostAtOnce: number;
  /** In the order in which they were sent. */
  readonly texts: string[];
}

/** The same databases, counting every single statement. */
export function countingRegistry(registry: DatabaseRegistry): {
  readonly registry: DatabaseRegistry;
  readonly counts: StatementCounts;
} {
  const counts: StatementCounts = { started: 0, mostAtOnce: 0, texts: [] };
  let running = 0;
  const counting = wrappedRegistry(registry, async ({ text }, send) => {
    counts.started += 1;
    counts.texts.push(text);
    running += 1;
    counts.mostAtOnce = Math.max(counts.mostAtOnce, running);
    try {
      return await send();
    } finally {
      running -= 1;
    }
  });
  return { registry: counting, counts };
}
