import { type AppliedPart, type History, isAnswered } from './history.js';
import { slotKey } from './script.js';

/**
 * Searches for one order of all committed plans in which every version follows the previous one, every expectation is
 * satisfied, and no plan precedes one that was answered before it began. Returns conflicting plans; empty if there is
 * such an order.
 */
export function findDisorder(history: History): readonly AppliedPart[] {
  const graph = new Graph();
  const nodes = new Map<AppliedPart, number>(history.parts.map((part) => [part, graph.add()]));
  const link = (from: AppliedPart | undefined, to: AppliedPart | undefined): void => {
    const [a, b] = [from && nodes.get(from), to && nodes.get(to)];
    if (a !== undefined && b !== undefined && a !== b) graph.link(a, b);
  };
  for (const part of history.parts) {
    for (const { kind, slot, from } of part.items) {
      const key = slotKey(slot);
      link(history.produced(key, from)?.part, part);
      if (kind === 'expect') link(part, history.produced(key, from + 1)?.part);
    }
  }
  linkMoments(graph, nodes);
  const stuck = graph.unsorted();
  return history.parts.filter((part) => stuck.has(nodes.get(part) ?? -1));
}

/** Adds a chain of times: plans that were answered at one time precede those that began later. */
function linkMoments(graph: Graph, nodes: ReadonlyMap<AppliedPart, number>): void {
  const moments: { readonly at: number; readonly node: number; readonly kind: 'start' | 'answer' }[] = [];
  for (const [part, node] of nodes) {
    const { startTick, answerTick } = part.execution;
    moments.push({ at: startTick, node, kind: 'start' });
    if (isAnswered(part.execution)) moments.push({ at: answerTick, node, kind: 'answer' });
  }
  moments.sort((a, b) => a.at - b.at);
  let last = graph.add();
  for (const { node, kind } of moments) {
    const moment = graph.add();
    graph.link(last, moment);
    if (kind === 'start') graph.link(moment, node);
    else graph.link(node, moment);
    last = moment;
  }
}

class Graph {
  readonly #next: number[][] = [];
  readonly #incoming: number[] = [];

  add(): number {
    this.#incoming.push(0);
    return this.#next.push([]) - 1;
  }

  link(from: number, to: number): void {
    this.#next[from]?.push(to);
    this.#incoming[to] = (this.#incoming[to] ?? 0) + 1;
  }

  /** Nodes that no topological order contains. */
  unsorted(): ReadonlySet<number> {
    const incoming = [...this.#incoming];
    const left = new Set(incoming.keys());
    const free = [...left].filter((node) => incoming[node] === 0);
    for (let node = free.pop(); node !== undefined; node = free.pop()) {
      left.delete(node);
      for (const other of this.#next[node] ?? []) {
        const count = (incoming[other] ?? 0) - 1;
        incoming[other] = count;
        if (count === 0) free.push(other);
      }
    }
    return left;
  }
}
