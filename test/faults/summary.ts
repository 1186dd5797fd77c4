import type { FaultRunResult } from './fault-run.js';
import type { FaultWorld } from './fault-world.js';

/** One line about a run. */
export function summaryOf(world: FaultWorld, { history, faults }: FaultRunResult): string {
  const struck = count(
    world.proxies.flatMap((proxy) => [...proxy.struck].flatMap(([kind, times]) => Array(times).fill(kind))),
  );
  const told = count(history.calls.map(({ told }) => (told.kind === 'failed' ? told.code : told.kind)));
  const replayed = history.calls.filter((call) => call.replayed).length;
  return `${faults} faults (${struck}), ${history.calls.length} calls (${told}; ${replayed} replayed)`;
}

function count(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, times]) => `${times} ${name}`).join(', ');
}
