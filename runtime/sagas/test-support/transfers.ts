import { TransferGetAction } from '../../../examples/wallet/actions/transfer-get-action.js';
import { TransferInitiateAction } from '../../../examples/wallet/actions/transfer-initiate-action.js';
import { WalletCloseAction } from '../../../examples/wallet/actions/wallet-close-action.js';
import { WalletCreateAction } from '../../../examples/wallet/actions/wallet-create-action.js';
import { application } from '../../../examples/wallet/generated/application.js';
import type { Transfer } from '../../../examples/wallet/models/transfer.js';
import { Wallet } from '../../../examples/wallet/models/wallet.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from '../../../examples/wallet/shards.js';
import { PATIENT } from '../../../test/databases/patient.js';
import { type Application, assembleApplication } from '../../application.js';
import { type Currency, currency } from '../../domain/currency.js';
import { Decimal } from '../../domain/decimal.js';
import { ShardedId } from '../../domain/id.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';

const WHO = { name: 'alice', claims: { role: 'operator' } } as const;
const OWNER = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';
const EUR: Currency = currency('EUR');

/** Lease of a process that is not killed, in milliseconds: long enough that it loses no lease on a busy machine. */
export const SURVIVOR_LEASE_MS = 5_000;

/**
 * A process of the wallet.
 *
 * @param deliver whether it takes the steps of transfers
 * @param leaseMs default: so short that tests need not wait for the leases of a killed process
 */
export function walletProcess(databases: DatabaseRegistry, deliver: boolean, leaseMs = 250): Application {
  return assembleApplication(application, databases, {
    namespace: 'test.sagas',
    collaborators: {},
    deliver,
    delivery: { leaseMs, surveyMs: 50 },
    execution: PATIENT,
    // Statements fail by design here.
    warn: () => {},
  });
}

/** Wallets on both shards, and some that cannot receive money. */
export interface Purses {
  readonly sources: readonly Wallet[];
  /** Targets of transfers, some of which fail. */
  readonly destinations: readonly ShardedId<Wallet>[];
}

/** Four sources with 1,000 each; destinations that are open, closed, unknown, or of another currency. */
export async function openPurses({ executor }: Application): Promise<Purses> {
  const create = (country: string, balance: number, code = EUR): Promise<Wallet> => {
    const params = { country, ownerId: OWNER, currency: code, initialBalance: new Decimal(balance) };
    return executor.execute(WHO, WalletCreateAction, params);
  };
  const sources = await Promise.all(['US', 'MX', 'US', 'MX'].map((country) => create(country, 100_000)));
  const closed = await create('MX', 0);
  await executor.execute(WHO, WalletCloseAction, { walletId: closed.id });
  const foreign = await create('US', 0, currency('MXN'));
  const open = await Promise.all(['US', 'MX'].map((country) => create(country, 0)));
  const unknown = ShardedId.generate(Wallet, MEXICO_SHARD);
  return { sources, destinations: [...open.map(({ id }) => id), closed.id, foreign.id, unknown] };
}

export function initiate(
  { executor }: Application,
  source: Wallet,
  destinationId: ShardedId<Wallet>,
  amount: number,
): Promise<Transfer> {
  const params = { sourceId: source.id, destinationId, amount: new Decimal(amount) };
  return executor.execute(WHO, TransferInitiateAction, params);
}

export function transferOf({ executor }: Application, { id: transferId }: Transfer): Promise<Transfer> {
  return executor.execute(WHO, TransferGetAction, { transferId });
}

/** The money of one shard, in one snapshot. */
export interface Books {
  readonly balances: number;
  /** Debited for transfers that started here and were not refunded. */
  readonly sent: number;
  /**
   * Credited by transfers from any shard, counted from the actions that credited it, not from the transfers' states.
   */
  readonly received: number;
}

/**
 * Reads the books of a shard. Both counts change together with the balances, so `balances + sent - received` is the
 * same in every snapshot of a shard. The money in flight is the sum of `sent` minus `received` over all shards.
 */
export async function readBooks(databases: DatabaseRegistry, shard: ShardIdentifier): Promise<Books> {
  const { rows } = await databases.database(shard).query({ text: BOOKS, values: [] });
  const [balances, sent, received] = (rows[0] ?? []).map(Number);
  return { balances: balances ?? Number.NaN, sent: sent ?? Number.NaN, received: received ?? Number.NaN };
}

const BOOKS = `SELECT (SELECT coalesce(sum(balance), 0) FROM wallets),
  (SELECT coalesce(sum(amount), 0) FROM transfers WHERE state <> 'REFUNDED'),
  (SELECT coalesce(sum((params -> 'params' ->> 'amount')::numeric), 0) FROM eventlog.actions
    WHERE name = 'TransferSaga.INITIATED' AND status = 'committed')`;

/** The state of a transfer on its own shard, and how often money was credited in its name. */
export interface Ending {
  readonly state: string;
  readonly credits: number;
  readonly refunds: number;
}

export async function readEndings(databases: DatabaseRegistry): Promise<ReadonlyMap<string, Ending>> {
  const states = await onBoth(databases, 'SELECT id, state FROM transfers');
  const credits = await onBoth(databases, effects('TransferSaga.INITIATED'));
  const refunds = await onBoth(databases, effects('TransferSaga.REFUNDING'));
  const [credited, refunded] = [countById(credits), countById(refunds)];
  return new Map(
    states.map(([id, state]) => [
      String(id),
      { state: String(state), credits: credited.get(id) ?? 0, refunds: refunded.get(id) ?? 0 },
    ]),
  );
}

function countById(rows: Rows): ReadonlyMap<unknown, number> {
  const counts = new Map<unknown, number>();
  for (const [id] of rows) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

type Rows = readonly (readonly unknown[])[];

async function onBoth(databases: DatabaseRegistry, text: string): Promise<Rows> {
  const found = await Promise.all(
    [GLOBAL_SHARD, MEXICO_SHARD].map((shard) => databases.database(shard).query({ text, values: [] })),
  );
  return found.flatMap(({ rows }) => rows);
}

function effects(action: string): string {
  return `SELECT params ->> 'saga' FROM eventlog.actions WHERE name = '${action}' AND status = 'committed'`;
}
