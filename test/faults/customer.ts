import {
  type ActionExecutor,
  CommitOutcomeUnknownError,
  CrossShardPartialError,
  currency,
  Decimal,
  ExecutionConfiguration,
  FwError,
  plainDecimal,
  ShardedId,
} from 'fw-actions';
import { WalletCreateAction } from '../../examples/wallet/actions/wallet-create-action.js';
import { WalletDepositMoneyAction } from '../../examples/wallet/actions/wallet-deposit-money-action.js';
import { WalletTransferAction } from '../../examples/wallet/actions/wallet-transfer-action.js';
import { WalletWithdrawMoneyAction } from '../../examples/wallet/actions/wallet-withdraw-money-action.js';
import { Wallet } from '../../examples/wallet/models/wallet.js';
import type { ExecutionReport } from '../../runtime/action/execution-report.js';
import type { Answer, Call, History, WalletFacts, WalletRequest } from './history.js';

/** All customers of a run are one principal, so that their keys collide. */
export const PRINCIPAL = { name: 'fault-run', claims: { role: 'operator' } } as const;

/** Executes a request once and records its answer. */
export async function send(
  executor: ActionExecutor,
  request: WalletRequest,
  history: History,
): Promise<Call> {
  const startedMs = performance.now();
  const reports: ExecutionReport[] = [];
  const answer = await answerOf(() => execute(executor, request, configurationOf(request, reports)));
  const attempts = reports.flatMap((report) => report.attempts);
  const last = attempts.at(-1);
  const call: Call = {
    request,
    answer,
    durationMs: performance.now() - startedMs,
    tried: attempts.flatMap(({ actionIds }) => actionIds),
    applied: last?.end === 'applied' && reports[0]?.replayed !== true ? last.actionIds : [],
    replayed: reports[0]?.replayed ?? false,
  };
  history.calls.push(call);
  return call;
}

function configurationOf(request: WalletRequest, reports: ExecutionReport[]): ExecutionConfiguration {
  const builder = ExecutionConfiguration.Builder.executionConfiguration();
  builder.allowCrossShard(request.kind === 'transfer').onReport((report) => reports.push(report));
  return request.key === undefined ? builder.build() : builder.idempotencyKey(request.key).build();
}

function execute(
  executor: ActionExecutor,
  request: WalletRequest,
  configuration: ExecutionConfiguration,
): Promise<Wallet | void> {
  switch (request.kind) {
    case 'create': {
      const { country, ownerId, initialBalance } = request;
      const params = {
        country,
        ownerId,
        currency: currency('MXN'),
        initialBalance: new Decimal(initialBalance),
      };
      return executor.execute(PRINCIPAL, WalletCreateAction, params, configuration);
    }
    case 'deposit':
    case 'withdraw': {
      const params = {
        walletId: ShardedId.of(Wallet, request.walletId),
        amount: new Decimal(request.amount),
      };
      const action = request.kind === 'deposit' ? WalletDepositMoneyAction : WalletWithdrawMoneyAction;
      return executor.execute(PRINCIPAL, action, params, configuration);
    }
    case 'transfer': {
      const { sourceId, destId, amount } = request;
      const params = {
        sourceId: ShardedId.of(Wallet, sourceId),
        destId: ShardedId.of(Wallet, destId),
        amount: new Decimal(amount),
      };
      return executor.execute(PRINCIPAL, WalletTransferAction, params, configuration);
    }
  }
}

/** Runs it and converts the result or error to plain data. */
export async function answerOf(run: () => Promise<Wallet | void>): Promise<Answer> {
  try {
    const result = await run();
    return { kind: 'acknowledged', result: result instanceof Wallet ? factsOf(result) : undefined };
  } catch (error) {
    if (error instanceof CommitOutcomeUnknownError) return { kind: 'unknown', actionId: error.actionId };
    if (error instanceof CrossShardPartialError) {
      const { committed, failed, cause } = error;
      return {
        kind: 'partial',
        committed: committed.map(({ actionId }) => actionId),
        failed: { actionId: failed.actionId, unknown: cause instanceof CommitOutcomeUnknownError },
      };
    }
    const code = error instanceof FwError ? error.code : 'UNFORESEEN';
    return { kind: 'failed', code, message: error instanceof Error ? String(error.stack) : String(error) };
  }
}

function factsOf(wallet: Wallet): WalletFacts {
  return {
    id: wallet.id.getValue(),
    version: wallet.version,
    balance: plainDecimal(wallet.balance),
    ownerId: wallet.ownerId,
    state: wallet.state,
  };
}
