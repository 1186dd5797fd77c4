import { isSplit } from './check-requests.js';
import { PRINCIPAL } from './customer.js';
import type { Call, History, WalletRequest } from './history.js';
import type { KeyRow, ShardRows } from './stored-rows.js';
import type { Report } from './violations.js';

/** A key's row must be on the shard of its effect, and no other row may have a result. */
export function checkKeys(history: History, shards: readonly ShardRows[], report: Report): void {
  const results = new Map<string, { readonly row: KeyRow; readonly shard: ShardRows }[]>();
  for (const shard of shards) {
    const committed = new Set(
      shard.actions.filter(({ status }) => status === 'committed').map(({ id }) => id),
    );
    for (const row of shard.keys) {
      if (row.principal !== PRINCIPAL.name) report('key-row', `key ${row.key} belongs to ${row.principal}`);
      if (!row.has_result) continue;
      results.set(row.key, [...(results.get(row.key) ?? []), { row, shard }]);
      if (!committed.has(row.action_id))
        report('key-row', `key ${row.key} stands for ${row.action_id}, not committed here`);
    }
  }
  for (const call of acknowledgedOf(history)) {
    const { request } = call;
    const count = request.key === undefined ? 0 : (results.get(request.key)?.length ?? 0);
    if (count !== 1)
      report('key-row', `key ${request.key} has ${count} rows with a result: ${JSON.stringify(request)}`);
  }
}

function acknowledgedOf({ calls }: History): readonly Call[] {
  return calls.filter(({ answer, request }) => answer.kind === 'acknowledged' && isKeyed(request));
}

function isKeyed(request: WalletRequest): boolean {
  return request.key !== undefined && !isSplit(request);
}
