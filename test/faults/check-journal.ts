import { isSplit } from './check-requests.js';
import type { Call, History } from './history.js';
import type { ShardRows } from './stored-rows.js';
import type { Report } from './violations.js';

/** How an entry may stand when its customer was told so: nothing but `open` may be finished later. */
type Standing = 'open' | 'applied' | 'partial';

/**
 * Each transfer whose first leg is committed has an entry in the journal. An entry is closed only if its customer knows
 * the outcome; one that cannot be closed in time stays open, and the customer is told so.
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
      report('journal-row', `entry ${id} is ${standing}, its customer was told ${JSON.stringify(call.told)}`);
    }
  }
  for (const [id, standing] of entries) report('journal-row', `entry ${id} (${standing}) belongs to nobody`);
}

function entryDue(
  { told, applied }: Call,
  history: History,
): { readonly id: string | undefined; readonly allowed: readonly Standing[] } {
  switch (told.kind) {
    case 'acknowledged':
      return { id: applied[0], allowed: ['applied', 'open'] };
    case 'partial':
      return { id: told.committed[0], allowed: told.failed.unknown ? ['open'] : ['partial', 'open'] };
    case 'unknown': {
      const isCommitted = history.resolutionOf(told.actionId) === 'committed';
      return { id: isCommitted ? told.actionId : undefined, allowed: ['open'] };
    }
    case 'failed':
      return { id: undefined, allowed: [] };
  }
}
