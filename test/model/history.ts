import type { ShardDump } from './database-dump.js';
import type { ExecutionRecord, Trace } from './record.js';
import type { ModelRun } from './run-model.js';
import { type PlannedItem, type State, slotKey } from './script.js';

/** The part of a plan that was committed on one shard. */
export interface AppliedPart {
  readonly execution: ExecutionRecord;
  readonly trace: Trace;
  readonly shard: number;
  readonly actionId: string;
  readonly items: readonly PlannedItem[];
}

/** One committed state. */
export interface Produced {
  readonly part: AppliedPart;
  readonly item: PlannedItem;
}

/** The committed plans and states, from the databases' action rows and the recorded plans. */
export class History {
  readonly parts: readonly AppliedPart[];
  readonly problems: string[] = [];
  readonly #versions = new Map<string, (Produced | undefined)[]>();

  constructor(run: ModelRun, dumps: readonly ShardDump[]) {
    const committed = dumps.map(
      ({ actions }) => new Set(actions.filter(({ status }) => status === 'committed').map(({ id }) => id)),
    );
    this.parts = run.executions.flatMap((execution) => this.#appliedParts(execution, committed));
    const known = new Set(this.parts.map(({ actionId }) => actionId));
    for (const id of committed.flatMap((ids) => [...ids])) {
      if (!known.has(id)) this.problems.push(`action row ${id} belongs to no attempt that may be committed`);
    }
    for (const part of this.parts)
      for (const item of part.items) if (item.kind !== 'expect') this.#produce(part, item);
  }

  /** All models that were ever stored. */
  get slots(): readonly string[] {
    return [...this.#versions.keys()];
  }

  lastVersion(slot: string): number {
    return (this.#versions.get(slot)?.length ?? 1) - 1;
  }

  produced(slot: string, version: number): Produced | undefined {
    return this.#versions.get(slot)?.[version];
  }

  state(slot: string, version: number): State | undefined {
    return this.produced(slot, version)?.item.state;
  }

  /**
   * The newest version whose commit had been answered at this time; 0 if there was none.
   *
   * @param executor the executor that must have answered; default any
   */
  floorAt(slot: string, moment: number, executor?: number): number {
    for (let version = this.lastVersion(slot); version > 0; version -= 1) {
      const { execution } = this.produced(slot, version)?.part ?? {};
      if (execution === undefined || !isAnswered(execution) || execution.answerTick >= moment) continue;
      if (executor === undefined || execution.executor === executor) return version;
    }
    return 0;
  }

  #appliedParts(
    execution: ExecutionRecord,
    committed: readonly ReadonlySet<string>[],
  ): readonly AppliedPart[] {
    const attempts = execution.report?.attempts ?? [];
    for (const { actionIds } of attempts.slice(0, -1)) {
      if (actionIds.some((id) => committed.some((ids) => ids.has(id)))) {
        this.problems.push(`execution ${execution.number}: an attempt that it gave up is committed`);
      }
    }
    const trace = execution.traces.at(-1);
    const actionIds = attempts.at(-1)?.actionIds ?? [];
    if (trace === undefined) return [];
    const parts = partsOf(trace.items);
    return actionIds.flatMap((actionId, index) => {
      const shard = committed.findIndex((ids) => ids.has(actionId));
      if (shard === -1) return [];
      const part = parts[index] ?? { shard, items: [] };
      if (part.shard !== shard)
        this.problems.push(`execution ${execution.number}: committed on shard ${shard}`);
      return [{ execution, trace, shard, actionId, items: part.items }];
    });
  }

  #produce(part: AppliedPart, item: PlannedItem): void {
    const key = slotKey(item.slot);
    let versions = this.#versions.get(key);
    if (versions === undefined) {
      versions = [undefined];
      this.#versions.set(key, versions);
    }
    const other = versions[item.state.version];
    if (other !== undefined) {
      const writers = `${other.item.state.writer} and ${item.state.writer}`;
      this.problems.push(`${key} has two versions ${item.state.version}: by ${writers}`);
    }
    versions[item.state.version] = { part, item };
  }
}

/** Whether the answer reports (all or part of) the plan as committed. */
export function isAnswered({ answer }: ExecutionRecord): boolean {
  return answer?.kind === 'result';
}

/** Items by shard, in staging order. */
export function partsOf(
  items: readonly PlannedItem[],
): readonly { readonly shard: number; readonly items: PlannedItem[] }[] {
  const parts = new Map<number, PlannedItem[]>();
  for (const item of items) {
    const part = parts.get(item.slot.shard);
    if (part === undefined) parts.set(item.slot.shard, [item]);
    else part.push(item);
  }
  return [...parts].map(([shard, partItems]) => ({ shard, items: partItems }));
}
