import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { CommitOutcomeUnknownError, CrossShardPartialError, PlanMisuseError } from '../../errors.js';
import type { JournalEnd, JournalStore } from '../../persistence/journal/journal-store.js';
import type { PartWrite } from '../../persistence/write/plan-write.js';
import type { CallOptions } from '../../sharding/shard-database.js';
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
  const [first, ...others] = plan.parts;
  if (first === undefined)
    throw new PlanMisuseError('A plan without shard transactions has no entry in the journal');
  const entry = entryOf(first, plan);
  const result = await plan.send(withEntry(first, plan), true);
  if (result.kind !== 'applied') return result;
  const committed = [outcomeOf(first)];
  for (const part of others) {
    const failure = await failureOf(part, plan);
    if (failure !== undefined) throw await partialError(plan, entry, committed, failure.cause);
    committed.push(outcomeOf(part));
  }
  // If closing fails, the entry lists every shard transaction as committed, which matches the answer.
  await entry.close('applied');
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
  { actionName, parts }: CrossShardPlan,
  entry: OwnEntry,
  committed: readonly CrossShardPartialError['failed'][],
  cause: unknown,
): Promise<CrossShardPartialError> {
  const outcomes = parts.map(outcomeOf);
  const [failed = { shard: '(none)', actionId: '(none)' }, ...notStarted] = outcomes.slice(committed.length);
  const closed =
    cause instanceof CommitOutcomeUnknownError ? await entry.giveBack() : await entry.close('partial');
  const facts = {
    committed,
    failed,
    notStarted: notStarted.map(({ shard }) => shard),
    openEntry: closed ? undefined : entry.id,
  };
  return new CrossShardPartialError(actionName, facts, cause);
}

/** The entry of a plan in the journal, which its execution leases. */
interface OwnEntry {
  readonly id: string;
  /** False if that has failed. */
  readonly close: (end: JournalEnd) => Promise<boolean>;
  /** Releases the lease of an entry that stays open, so that recovery need not wait for it. @returns false: not closed */
  readonly giveBack: () => Promise<false>;
}

/** The action id of the first shard transaction is both the entry's id and its first owner. */
function entryOf({ shard, write }: PartWrite, { journalOf, remainingMs }: CrossShardPlan): OwnEntry {
  const { id } = write.action;
  const journal = journalOf(shard);
  const limits = (): CallOptions => ({ timeoutMs: Math.max(CLOSING_MS, remainingMs()) });
  return {
    id,
    close: (end) => journal.close(id, id, end, limits()).catch(() => false),
    // If that fails, the lease expires by itself.
    giveBack: () =>
      journal.release(id, id, limits()).then(
        () => false,
        () => false,
      ),
  };
}

function outcomeOf({ shard, write }: PartWrite): CrossShardPartialError['failed'] {
  return { shard: shard.toString(), actionId: write.action.id };
}
