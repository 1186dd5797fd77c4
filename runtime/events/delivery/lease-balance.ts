import type { ConsumerState, ShardSurvey } from './consumer-store.js';

/** The facts from which a process decides which leases to take and which to release. */
export interface LeaseSituation extends Omit<ShardSurvey, 'renewed' | 'serverRun'> {
  readonly process: string;
  readonly known: readonly string[];
  /** Consumers whose lease this process holds. */
  readonly held: readonly string[];
  /** Consecutive surveys in which a consumer was free. */
  readonly freeFor: ReadonlyMap<string, number>;
}

/** Surveys after which any process that can run a free consumer takes it, whatever its share. */
const PATIENCE = 3;

/**
 * Balances consumers among the processes that know their handlers: each process takes up to its fair share at once, and
 * remaining consumers after some surveys. A process with two more consumers than another one that could run one of them
 * releases that one. So the numbers differ by at most one, and then no lease moves.
 */
export function chooseLeases(situation: LeaseSituation): {
  readonly acquire: readonly string[];
  readonly release: readonly string[];
} {
  const { process, known, consumers, processes, held, freeFor } = situation;
  const knows = new Set(known);
  const runnable = consumers.filter(({ handler }) => knows.has(handler));
  const rivals = processes.filter(
    ({ id, handlers }) => id !== process && handlers.some((name) => knows.has(name)),
  );
  const share = Math.ceil(runnable.length / (rivals.length + 1));
  const acquire: string[] = [];
  for (const { name, free } of runnable) {
    if (!free || held.includes(name)) continue;
    const patient = (freeFor.get(name) ?? 0) >= PATIENCE;
    if (held.length + acquire.length < share || patient) acquire.push(name);
  }
  return { acquire, release: acquire.length > 0 ? [] : surplus(situation, runnable) };
}

/** A consumer that a less loaded process could run, if there is one. */
function surplus(
  { consumers, processes, held, process }: LeaseSituation,
  runnable: readonly ConsumerState[],
): readonly string[] {
  for (const { id, handlers } of processes) {
    if (id === process) continue;
    const theirs = consumers.filter(({ holder }) => holder === id).length;
    if (held.length - theirs < 2) continue;
    const gift = runnable.find(({ name, handler }) => held.includes(name) && handlers.includes(handler));
    if (gift !== undefined) return [gift.name];
  }
  return [];
}
