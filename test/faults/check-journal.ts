import { isSplit } from './check-requests.js';
import type { Call, History } from './history.js';
import type { ShardRows } from './stored-rows.js';
import type { Report } from './violations.js';

/** The allowed states of an entry, given the answer to its customer: only an `open` one may be finished later. */
type Standing = 'open' | 'applied' | 'partial';

/**
 * Each transfer whose first shard transaction is committed has an entry in the journal. An entry is closed only if its
 * customer knows the outcome; one that cannot be closed in time stays open, and the answer names it.
 */
export function checkJournal(history: History, shards: readonly ShardRows[], report: Report): void {
  const entries = new Map(
    shards.flatMap(({ journal }) => journal.map((row) => [row.id, row.outcome ?? row.state] as const)),
  );
  for (const call of history.calls.filter(({ request }) => isSplit(request))) {
    const { id, allowed } = entryDue(call, history);
    if (id === undefined) continue;
    const standing = entries.get(id) ?? 'absent';
    entries.delete(id);
    if (!allowed.some((one) => one === standing)) {
      report('journal-row', `entry ${id} is ${standing}, its customer got ${JSON.stringify(call.answer)}`);
    }
  }
  for (const [id, standing] of entries) report('journal-row', `entry ${id} (${standing}) belongs to no call`);
}

function entryDue(
  { answer, applied }: Call,
  history: History,
): { readonly id: string | undefined; readonly allowed: readonly Standing[] } {
  switch (answer.kind) {
    case 'acknowledged':
      return { id: applied[0], allowed: ['applied', 'open'] };
    case 'partial':
      return { id: answer.committed[0], allowed: answer.failed.unknown ? ['open'] : ['partial', 'open'] };
    case 'unknown': {
      const isCommitted = history.resolutionOf(answer.actionId) === 'committed';
      return { id: isCommitted ? answer.actionId : undefined, allowed: ['open'] };
    }
    case 'failed':
      return { id: undefined, allowed: [] };
  }
}
