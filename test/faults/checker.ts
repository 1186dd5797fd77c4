import { Decimal } from 'fw-actions';
import { checkAttempts } from './check-attempts.js';
import { checkJournal } from './check-journal.js';
import { checkKeys } from './check-keys.js';
import { checkRequests } from './check-requests.js';
import { checkRows } from './check-rows.js';
import { effectsOf } from './effects.js';
import type { History } from './history.js';
import type { ShardRows } from './stored-rows.js';
import type { Report, Violation } from './violations.js';

/**
 * Compares the customers' history with the rows of all shards. An empty list: no violations.
 *
 * @param timeoutMs deadline of the executions
 */
export function check(
  history: History,
  shards: readonly ShardRows[],
  timeoutMs: number,
): readonly Violation[] {
  const violations: Violation[] = [];
  const report: Report = (rule, detail) => violations.push({ rule, detail });
  for (const rows of shards) checkRows(rows, report);
  checkRequests(history, shards, report);
  checkAttempts(history, shards, timeoutMs, report);
  checkKeys(history, shards, report);
  checkJournal(history, shards, report);
  checkSum(shards, report);
  return violations;
}

/** Money enters by creations and deposits and leaves by withdrawals, over all shards. */
function checkSum(shards: readonly ShardRows[], report: Report): void {
  let due = new Decimal(0);
  for (const { kind, mark, balance } of effectsOf(shards)) {
    due = kind === 'created' ? due.plus(balance) : kind === 'deposited' ? due.plus(mark) : due.minus(mark);
  }
  const balances = shards.flatMap(({ wallets }) => wallets.map(({ balance }) => balance));
  const sum = balances.reduce((total, balance) => total.plus(balance), new Decimal(0));
  if (!sum.equals(due)) report('sum-of-money', `the wallets hold ${sum}, and ${due} went in`);
}
