import { Decimal } from 'fw-actions';
import type { EventRow, ShardRows, WalletRow } from './stored-rows.js';
import type { Report } from './violations.js';
import { shardOf } from './wallet-requests.js';

/** Invariants of one shard's rows, independent of the answers to the customers. */
export function checkRows(rows: ShardRows, report: Report): void {
  checkPlaces(rows, report);
  checkActions(rows, report);
  const events = groupBy(rows.events, ({ model_id }) => model_id);
  for (const wallet of rows.wallets) checkChain(wallet, events.get(wallet.id) ?? [], report);
  const wallets = new Set(rows.wallets.map(({ id }) => id));
  for (const id of events.keys()) {
    if (!wallets.has(id)) report('orphaned-event', `events of ${id}, which is no wallet of its shard`);
  }
}

function checkPlaces(rows: ShardRows, report: Report): void {
  const here = `(${rows.group}, ${rows.member})`;
  for (const { id } of [...rows.wallets, ...rows.actions, ...rows.events]) {
    if (shardOf(id) !== here) report('wrong-shard', `${id} lies on ${here}`);
  }
}

/** An action row and its effects exist together or not at all. All actions of the wallet have an event. */
function checkActions({ actions, events }: ShardRows, report: Report): void {
  const status = new Map(actions.map(({ id, status }) => [id, status]));
  const effective = new Set(events.map(({ action_id }) => action_id));
  for (const { id, action_id } of events) {
    if (status.get(action_id) !== 'committed') {
      report(
        'effect-without-action',
        `event ${id} belongs to action ${action_id} (${status.get(action_id) ?? 'absent'})`,
      );
    }
  }
  for (const { id, status, name } of actions) {
    if (status === 'committed' && !effective.has(id))
      report('action-without-effect', `${name} ${id} has no event`);
  }
}

/** There is one event per version, and the row is the sum of the events. */
function checkChain(wallet: WalletRow, events: readonly EventRow[], report: Report): void {
  const versions = events.map(({ model_version }) => model_version);
  const due = Array.from({ length: wallet.version }, (_, index) => index + 1);
  if (versions.join() !== due.join()) {
    report(
      'version-chain',
      `${wallet.id} has version ${wallet.version} and events of versions ${versions.join()}`,
    );
  }
  let balance = new Decimal(0);
  for (const event of events) {
    balance = fold(balance, event);
    const { newBalance } = event.payload;
    if (newBalance !== undefined && !balance.equals(newBalance)) {
      report(
        'balance-chain',
        `${wallet.id} at version ${event.model_version}: ${newBalance}, not ${balance}`,
      );
    }
  }
  if (!balance.equals(wallet.balance)) {
    report('balance-fold', `${wallet.id} has ${wallet.balance}, its events add up to ${balance}`);
  }
}

function fold(balance: Decimal, { event_type, payload }: EventRow): Decimal {
  switch (event_type) {
    case 'WalletCreatedEvent':
      return new Decimal(payload.initialBalance ?? 'NaN');
    case 'WalletMoneyDepositedEvent':
      return balance.plus(payload.amount ?? 'NaN');
    case 'WalletMoneyWithdrawnEvent':
      return balance.minus(payload.amount ?? 'NaN');
    default:
      return new Decimal('NaN');
  }
}

/** The items by key, in their order. */
export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
