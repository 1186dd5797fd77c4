import type { FaultRunResult } from './fault-run.js';
import type { FaultWorld } from './fault-world.js';

/** One line about a run. */
export function summaryOf(world: FaultWorld, { history, faults }: FaultRunResult): string {
  const struck = count(
    world.proxies.flatMap((proxy) => [...proxy.struck].flatMap(([kind, times]) => Array(times).fill(kind))),
  );
  const answer = count(
    history.calls.map(({ answer }) => (answer.kind === 'failed' ? answer.code : answer.kind)),
  );
  const replayed = history.calls.filter((call) => call.replayed).length;
  return `${faults} faults (${struck}), ${history.calls.length} calls (${answer}; ${replayed} replayed)`;
}

function count(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, times]) => `${times} ${name}`).join(', ');
}
