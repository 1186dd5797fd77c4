import type { ConsumerState, ShardSurvey } from './consumer-store.js';

/** What a process knows when it decides which leases to take and which to give away. */
export interface LeaseSituation extends Omit<ShardSurvey, 'renewed' | 'serverRun'> {
  readonly process: string;
  /** Handlers of this process. */
  readonly known: readonly string[];
  /** Consumers whose lease it has. */
  readonly held: readonly string[];
  /** Surveys in a row in which a consumer was seen to be free. */
  readonly freeFor: ReadonlyMap<string, number>;
}

/** A consumer that is free for this number of surveys is taken by any process that can run it, whatever its share. */
const PATIENCE = 3;

/**
 * Shares consumers among the processes that know their handlers: each takes up to a fair share at once, and the
 * rest after a while. A process that has two more than another one that could run one of them releases that one. So
 * the numbers differ by one at most, and nothing moves when they do.
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
