import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import {
  CommitOutcomeUnknownError,
  CrossShardPartialError,
  type PartOutcome,
  PlanMisuseError,
} from '../../errors.js';
import type { JournalEnd, JournalStore } from '../../persistence/journal/journal-store.js';
import type { PartWrite } from '../../persistence/write/plan-write.js';
import type { PartResult } from '../attempt.js';

export interface CrossShardPlan {
  readonly actionName: string;
  /** In staging order; at least two. */
  readonly parts: readonly PartWrite[];
  /** All shard transactions as the journal stores them. */
  readonly partsJson: string;
  /** @param mayAbort whether the caller's signal still ends the plan: not once a shard transaction is committed */
  readonly send: (part: PartWrite, mayAbort: boolean) => Promise<PartResult>;
  readonly journalOf: (shard: ShardIdentifier) => JournalStore;
  readonly remainingMs: () => number;
}

/**
 * Time by which an execution's lease on its entry outlasts its deadline, in milliseconds: to settle its last shard
 * transaction and to close the entry.
 */
const LEASE_MARGIN_MS = 2_000;
/** Time reserved for closing the entry even if the deadline is near, in milliseconds. */
const CLOSING_MS = 100;

/**
 * Applies the shard transactions of an allowed cross-shard plan in staging order. The first one opens an entry in the
 * journal, in its own transaction; the entry is closed before the caller is answered. After the first commit nothing is
 * retried. The execution leases the entry while it works, so no other process finishes it.
 *
 * @returns the outcome of the first shard transaction if it was not applied; then nothing was written
 * @throws CrossShardPartialError if a later shard transaction failed
 */
export async function applyParts(plan: CrossShardPlan): Promise<PartResult> {
  const committed: PartOutcome[] = [];
  for (const [index, part] of plan.parts.entries()) {
    if (index === 0) {
      const first = await plan.send(withEntry(part, plan), true);
      if (first.kind !== 'applied') return first;
    } else {
      const failure = await failureOf(part, plan);
      if (failure !== undefined) throw await partialError(plan, committed, failure.cause);
    }
    committed.push(outcomeOf(part));
  }
  // If closing fails, the entry lists every shard transaction as committed, which matches the answer.
  await close(plan, 'applied');
  return { kind: 'applied', write: undefined };
}

function withEntry({ shard, write }: PartWrite, { partsJson, remainingMs }: CrossShardPlan): PartWrite {
  const holdMs = Math.max(0, remainingMs()) + LEASE_MARGIN_MS;
  return { shard, write: { ...write, journal: { parts: partsJson, holdMs } } };
}

async function failureOf(
  part: PartWrite,
  { send }: CrossShardPlan,
): Promise<{ readonly cause: unknown } | undefined> {
  try {
    const result = await send(part, false);
    return result.kind === 'retry' ? { cause: result.error } : undefined;
  } catch (cause) {
    return { cause };
  }
}

/**
 * A shard transaction reported as not applied must never be applied later. If that is uncertain, the error states it.
 */
async function partialError(
  plan: CrossShardPlan,
  committed: readonly PartOutcome[],
  cause: unknown,
): Promise<CrossShardPartialError> {
  const outcomes = plan.parts.map(outcomeOf);
  const [failed = { shard: '(none)', actionId: '(none)' }, ...notStarted] = outcomes.slice(committed.length);
  const closed =
    cause instanceof CommitOutcomeUnknownError ? await giveBack(plan) : await close(plan, 'partial');
  const facts = {
    committed,
    failed,
    notStarted: notStarted.map(({ shard }) => shard),
    openEntry: closed ? undefined : entryOf(plan).id,
  };
  return new CrossShardPartialError(plan.actionName, facts, cause);
}

async function close(plan: CrossShardPlan, end: JournalEnd): Promise<boolean> {
  const entry = entryOf(plan);
  try {
    return await entry.journal.close(entry.id, entry.id, end, closingLimits(plan));
  } catch {
    return false;
  }
}

/**
 * Releases the lease of an entry that stays open, so that recovery need not wait for it. Always returns false: not
 * closed.
 */
async function giveBack(plan: CrossShardPlan): Promise<false> {
  const entry = entryOf(plan);
  try {
    await entry.journal.release(entry.id, entry.id, closingLimits(plan));
  } catch {
    // The lease expires by itself.
  }
  return false;
}

function closingLimits({ remainingMs }: CrossShardPlan): { readonly timeoutMs: number } {
  return { timeoutMs: Math.max(CLOSING_MS, remainingMs()) };
}

/** The action id of the first shard transaction is both the entry's id and its first owner. */
function entryOf({ parts, journalOf }: CrossShardPlan): {
  readonly id: string;
  readonly journal: JournalStore;
} {
  const [first] = parts;
  if (first === undefined)
    throw new PlanMisuseError('A plan without shard transactions has no entry in the journal');
  return { id: first.write.action.id, journal: journalOf(first.shard) };
}

function outcomeOf({ shard, write }: PartWrite): PartOutcome {
  return { shard: shard.toString(), actionId: write.action.id };
}
