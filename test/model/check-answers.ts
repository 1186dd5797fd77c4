import {
  AbortedError,
  CommitOutcomeUnknownError,
  CrossShardException,
  CrossShardPartialError,
  DeadlineExceededError,
  IdempotencyKeyBusyError,
  IdempotencyKeyReusedError,
  ModelNotFoundError,
  PreconditionFailedError,
  RefusedError,
  RowBusyError,
  ShardBusyError,
  ShardUnavailableError,
  StaleModelError,
  UniqueViolationError,
} from '../../runtime/errors.js';
import { type History, partsOf } from './history.js';
import type { ExecutionRecord, Trace } from './record.js';
import type { ModelRun } from './run-model.js';
import { type Found, type Outcome, type PlannedItem, runScript, slotKey } from './script.js';

/** The claim of an answer. */
type Claim = 'result' | 'odd' | 'missing' | 'thrown' | 'precondition' | 'cross-shard' | Unproven;
/** Claims only that nothing (or exactly the named part) was written. */
type Unproven = 'unique' | 'key-reused' | 'partial' | 'unknown' | 'gave-up';

const GAVE_UP = [
  ...[StaleModelError, RowBusyError, DeadlineExceededError, AbortedError],
  ...[ShardBusyError, ShardUnavailableError, IdempotencyKeyBusyError],
] as const;

/** Checks every answer against the committed states. */
export function checkAnswers(
  run: ModelRun,
  history: History,
): { readonly problems: string[]; readonly answers: Record<string, number> } {
  const checker = new AnswerChecker(run, history);
  const answers: Record<string, number> = {};
  for (const execution of run.executions) {
    const name = checker.check(execution);
    answers[name] = (answers[name] ?? 0) + 1;
  }
  return { problems: checker.problems, answers };
}

class AnswerChecker {
  readonly problems: string[] = [];
  readonly #history: History;
  readonly #executions: readonly ExecutionRecord[];
  readonly #committed = new Map<ExecutionRecord, string[]>();
  readonly #labels = new Set<string>();
  readonly #keyed = new Map<string, ExecutionRecord[]>();

  constructor(run: ModelRun, history: History) {
    this.#history = history;
    this.#executions = run.executions;
    for (const { execution, actionId, items } of history.parts) {
      this.#committed.set(execution, [...(this.#committed.get(execution) ?? []), actionId]);
      for (const { slot, state } of items) this.#labels.add(`${slot.kind}/${slot.shard}/${state.label}`);
    }
    for (const execution of this.#executions) {
      const { key, principal } = execution.terms;
      if (key === undefined) continue;
      const name = `${principal}/${key}`;
      this.#keyed.set(name, [...(this.#keyed.get(name) ?? []), execution]);
    }
  }

  /** Checks one answer and returns its kind. */
  check(execution: ExecutionRecord): string {
    const claim = claimOf(execution);
    if (claim === undefined) {
      const { answer } = execution;
      const text =
        answer?.kind === 'error' && answer.error instanceof Error ? answer.error.stack : 'no answer';
      this.#complain(execution, `unexpected ${text}`);
      return 'unexpected';
    }
    const replayed = execution.report?.replayed === true;
    if (claim === 'result' && replayed) this.#checkReplay(execution);
    else this.#checkOwn(execution, claim);
    return replayed ? 'replayed' : claim === 'gave-up' ? errorName(execution) : claim;
  }

  #checkOwn(execution: ExecutionRecord, claim: Claim): void {
    const trace = execution.traces.at(-1);
    const committed = this.#committed.get(execution) ?? [];
    switch (claim) {
      case 'unknown':
        return;
      case 'partial':
        this.#checkPartial(execution, committed);
        return;
      case 'key-reused':
        if (!this.#sharesKey(execution)) this.#complain(execution, 'no other execution used its key');
        break;
      case 'unique':
        if (trace !== undefined && !this.#clashes(trace.items))
          this.#complain(execution, 'clashes with nothing');
        break;
      case 'gave-up':
        break;
      default:
        if (trace === undefined) this.#complain(execution, `${claim} without having performed`);
        else this.#checkTrace(execution, trace, claim);
    }
    const expected = claim === 'result' && trace !== undefined ? planCount(execution, trace) : 0;
    if (committed.length !== expected) {
      this.#complain(
        execution,
        `answered ${claim}, and ${committed.length} of ${expected} plans are committed`,
      );
    }
  }

  #checkPartial(execution: ExecutionRecord, committed: readonly string[]): void {
    const { answer } = execution;
    if (answer?.kind !== 'error' || !(answer.error instanceof CrossShardPartialError)) return;
    const { committed: told, failed, cause } = answer.error;
    const found =
      cause instanceof CommitOutcomeUnknownError
        ? committed.filter((id) => id !== failed.actionId)
        : committed;
    if (told.map(({ actionId }) => actionId).join() !== found.join()) {
      this.#complain(execution, `reports ${told.length} committed shard transactions, found ${found.length}`);
    }
  }

  /** A repeat gets the answer of the only applied plan under its key. */
  #checkReplay(execution: ExecutionRecord): void {
    const { key, principal } = execution.terms;
    const peers = this.#keyed.get(`${principal}/${key}`) ?? [];
    const [first] = peers.filter((peer) => this.#committed.has(peer) && peer.script === execution.script);
    const { answer } = execution;
    if (first === undefined) this.#complain(execution, 'was answered by a plan that is not committed');
    if (first === undefined || first === execution) return;
    const { outcome } = this.#replay(execution, first.traces.at(-1));
    const expected = outcome?.kind === 'done' ? JSON.stringify(inOrder(outcome.result)) : 'nothing';
    const got = answer?.kind === 'result' ? JSON.stringify(inOrder(answer.result)) : 'nothing';
    if (expected !== got) this.#complain(execution, `got ${got} under its key, not ${expected}`);
  }

  /** Checks that the answer follows from the committed states of the versions that were read. */
  #checkTrace(execution: ExecutionRecord, trace: Trace, claim: Claim): void {
    const { outcome, items } = this.#replay(execution, trace);
    if (outcome === undefined) return;
    if (JSON.stringify(items.map(itemText)) !== JSON.stringify(trace.items.map(itemText))) {
      this.#complain(execution, 'staged something else than the reference');
    }
    const expected = outcome.kind === 'refused' ? outcome.refusal : admission(execution, items);
    if (expected !== claim) this.#complain(execution, `answered ${claim}, the reference says ${expected}`);
    this.#checkReads(execution, trace);
    const { answer } = execution;
    if (claim !== 'result' || outcome.kind !== 'done' || answer?.kind !== 'result') return;
    const [got, wanted] = [JSON.stringify(inOrder(answer.result)), JSON.stringify(inOrder(outcome.result))];
    if (got !== wanted) this.#complain(execution, `answered ${got}, the reference says ${wanted}`);
  }

  /** Runs the script again on committed states. */
  #replay(
    execution: ExecutionRecord,
    trace: Trace | undefined,
  ): { readonly outcome: Outcome | undefined; readonly items: readonly PlannedItem[] } {
    const items: PlannedItem[] = [];
    if (trace === undefined) return { outcome: undefined, items };
    const run = runScript(execution.script, trace.writer);
    const reads = [...trace.reads];
    let found: readonly Found[] = [];
    for (;;) {
      const { done, value } = run.next(found);
      if (done === true) return { outcome: value, items };
      found = [];
      if (value.kind === 'stage') items.push(value.item);
      if (value.kind === 'stage' || value.kind === 'own' || value.kind === 'pause') continue;
      const read = reads.shift();
      if (read === undefined) return { outcome: undefined, items };
      found = read.found.map(({ slot, state }) => {
        const own = state?.writer === trace.writer;
        return {
          slot,
          state: own ? stagedState(items, slot) : this.#committedState(execution, slot, state?.version),
        };
      });
    }
  }

  #committedState(execution: ExecutionRecord, slot: string, version: number | undefined): Found['state'] {
    if (version === undefined) return undefined;
    const state = this.#history.state(slot, version);
    if (state === undefined)
      this.#complain(execution, `read version ${version} of ${slot}, which was never committed`);
    return state;
  }

  /**
   * Checks that reads see commits that were answered before them, and never go back. The reads of one `findAllByIds`
   * are concurrent. A read that may chain can be behind another executor's answers: see `staged-lag.proof.db.test.ts`.
   */
  #checkReads(execution: ExecutionRecord, { reads, items }: Trace): void {
    const newest = new Map<string, number>();
    const by = execution.terms.chaining ? execution.executor : undefined;
    for (const { tick, found, kind } of reads) {
      const before = new Map(newest);
      for (const { slot, state } of found) {
        // A plan sees its own staged states, regardless of later commits.
        if (items.some((item) => slotKey(item.slot) === slot && item.state.version === state?.version))
          continue;
        const version = state?.version ?? 0;
        const answered = this.#history.floorAt(slot, tick, by);
        if (version < answered) {
          this.#complain(
            execution,
            `${kind} read version ${version} of ${slot}, after ${answered} was answered`,
          );
        }
        const earlier = before.get(slot) ?? 0;
        if (version < earlier)
          this.#complain(execution, `${kind} went back from ${earlier} to ${version} of ${slot}`);
        newest.set(slot, Math.max(version, newest.get(slot) ?? 0));
        const committed = this.#history.state(slot, version)?.writer;
        if (state?.writer !== committed) {
          this.#complain(execution, `read ${slot} by ${state?.writer}, which is by ${committed}`);
        }
      }
    }
  }

  #sharesKey(execution: ExecutionRecord): boolean {
    const { key, principal } = execution.terms;
    const peers = this.#keyed.get(`${principal}/${key}`) ?? [];
    return peers.some(({ script }) => script.number !== execution.script.number);
  }

  #clashes(items: readonly PlannedItem[]): boolean {
    return items.some(
      ({ kind, slot, state }) =>
        kind === 'add' &&
        (this.#history.lastVersion(slotKey(slot)) > 0 ||
          (state.label !== null &&
            slot.kind !== 'Purse' &&
            this.#labels.has(`${slot.kind}/${slot.shard}/${state.label}`))),
    );
  }

  #complain(execution: ExecutionRecord, text: string): void {
    this.problems.push(`execution ${execution.number}: ${text}${circumstances(execution)}`);
  }
}

/** The facts that explain a failed execution in a message. */
function circumstances({ answer, report, terms }: ExecutionRecord): string {
  if (answer?.kind !== 'error') return '';
  const attempts = report?.attempts.map(({ end, actionIds }) => `${end} ${actionIds.join()}`).join('; ');
  return ` (${String(answer.error)}; terms ${JSON.stringify(terms)}; attempts: ${attempts})`;
}

/** The number of plans of a successful execution. */
function planCount({ terms }: ExecutionRecord, { items }: Trace): number {
  return terms.key !== undefined && items.length === 0 ? 1 : partsOf(items).length;
}

function stagedState(items: readonly PlannedItem[], slot: string): Found['state'] {
  return items.find((item) => slotKey(item.slot) === slot)?.state;
}

function claimOf({ answer }: ExecutionRecord): Claim | undefined {
  if (answer?.kind === 'result') return 'result';
  const error = answer?.error;
  if (error instanceof RefusedError) return 'odd';
  if (error instanceof ModelNotFoundError) return 'missing';
  if (error instanceof TypeError && error.message === 'thrown by the script') return 'thrown';
  if (error instanceof PreconditionFailedError) return 'precondition';
  if (error instanceof CrossShardException) return 'cross-shard';
  if (error instanceof UniqueViolationError) return 'unique';
  if (error instanceof IdempotencyKeyReusedError) return 'key-reused';
  if (error instanceof CrossShardPartialError) return 'partial';
  if (error instanceof CommitOutcomeUnknownError) return 'unknown';
  return GAVE_UP.some((type) => error instanceof type) ? 'gave-up' : undefined;
}

function errorName({ answer }: ExecutionRecord): string {
  return answer?.kind === 'error' && answer.error instanceof Error ? answer.error.name : 'none';
}

/** The executor's refusal of a plan after `perform`, if any. */
function admission({ terms }: ExecutionRecord, items: readonly PlannedItem[]): Claim {
  const { ifVersion, allowCrossShard, key } = terms;
  const guarded = items.find(({ slot, kind }) => kind !== 'add' && slotKey(slot) === ifVersion?.slot);
  if (guarded !== undefined && guarded.from !== ifVersion?.version) return 'precondition';
  if (partsOf(items).length < 2) return 'result';
  return allowCrossShard && key === undefined ? 'result' : 'cross-shard';
}

function itemText({ kind, slot, from, state, events }: PlannedItem): string {
  const { version, value, writer, bucket, label } = state;
  return JSON.stringify([kind, slotKey(slot), from, version, value, writer, bucket, label, events]);
}

function inOrder(result: unknown): unknown {
  const { writer, sum } = result as { writer: unknown; sum: unknown };
  return [writer, sum];
}
