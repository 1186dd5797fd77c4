import { Decimal, plainDecimal } from 'fw-actions';
import { uuid7 } from '../../runtime/domain/id-source.js';
import { ShardIdentifier } from '../../runtime/domain/shard-identifier.js';
import { DatabaseError } from '../../runtime/errors.js';
import type { Transaction, TransactionManager } from '../../runtime/sharding/transaction-manager.js';
import type { Answer, History, WalletFacts } from './history.js';
import { markedAmount } from './wallet-requests.js';

/** Far from the numbers of other requests, so that the marks are unique. */
const FIRST_NUMBER = 500_000;

/**
 * Deposits in the application's own transactions. In every third one a statement fails and its error is swallowed, so
 * that the server answers COMMIT with a rollback.
 */
export async function depositByHand(
  transactions: TransactionManager,
  wallet: WalletFacts,
  times: number,
  history: History,
): Promise<void> {
  let { version, balance } = wallet;
  for (let turn = 1; turn <= times; turn += 1) {
    const number = FIRST_NUMBER + turn;
    const amount = markedAmount(number);
    const actionId = uuid7.next(ShardIdentifier.of(0, 0).bits);
    const newBalance = plainDecimal(new Decimal(balance).plus(amount));
    const change = { actionId, walletId: wallet.id, version: version + 1, amount, newBalance };
    const answer = await answerOfCommit(() =>
      transactions.transaction((transaction) => applyByHand(transaction, change, turn % 3 === 0)),
    );
    history.calls.push({
      request: { kind: 'deposit', number, key: undefined, walletId: wallet.id, amount },
      answer,
      durationMs: 0,
      tried: [actionId],
      applied: answer.kind === 'acknowledged' ? [actionId] : [],
      replayed: false,
    });
    if (turn % 3 !== 0) [version, balance] = [version + 1, newBalance];
  }
}

async function answerOfCommit(commit: () => Promise<void>): Promise<Answer> {
  try {
    await commit();
    return { kind: 'acknowledged', result: undefined };
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    return { kind: 'failed', code: 'FW_REFUSED', message: error.message };
  }
}

interface Change {
  readonly actionId: string;
  readonly walletId: string;
  readonly version: number;
  readonly amount: string;
  readonly newBalance: string;
}

async function applyByHand(
  transaction: Transaction,
  { actionId, walletId, version, amount, newBalance }: Change,
  breaks: boolean,
): Promise<void> {
  await transaction.query({
    text:
      'insert into eventlog.actions (id, status, namespace, name, principal, started_date, completed_date) ' +
      "values ($1, 'committed', 'faults', 'ByHand', 'fault-run', now(), now())",
    values: [actionId],
  });
  await transaction.query({
    text: 'update wallets set balance = $2, version = $3 where id = $1',
    values: [walletId, newBalance, version],
  });
  await transaction.query({
    text:
      'insert into eventlog.events (id, action_id, namespace, model_id, model_name, event_type, payload, created_date, ' +
      "model_version) values ($1, $2, 'faults', $3, 'Wallet', 'WalletMoneyDepositedEvent', $4::jsonb, now(), $5)",
    values: [
      uuid7.next(ShardIdentifier.of(0, 0).bits),
      actionId,
      walletId,
      JSON.stringify({ amount, newBalance }),
      version,
    ],
  });
  if (breaks) await transaction.query({ text: 'select 1 / 0', values: [] }).catch(() => {});
}
