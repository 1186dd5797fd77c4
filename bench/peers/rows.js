/** The rows that every peer writes besides the wallet, defined once so that they are equal. */
import { Decimal } from 'decimal.js';
import { v7 as uuid7 } from 'uuid';

export const POOL_SIZE = 16;

/** Amounts are decimals and never floats. */
export function add(balance, amount) {
  return new Decimal(balance).plus(amount).toFixed();
}

/** The outbox row of one deposit, by the names of its columns in camelCase. */
export function eventRow({ walletId, amount, balance, version, now }) {
  return {
    id: uuid7(),
    actionId: uuid7(),
    namespace: 'bench',
    modelId: walletId,
    modelName: 'Wallet',
    eventType: 'WalletMoneyDepositedEvent',
    payload: { amount, newBalance: balance },
    createdDate: now,
    modelVersion: version,
    eventVersion: 1,
  };
}

/** The action's row, for the variants that write it. */
export function actionRow({ actionId }, { walletId, amount, now }) {
  return {
    id: actionId,
    status: 'committed',
    namespace: 'bench',
    name: 'WalletDepositMoneyAction',
    principal: 'bench',
    startedDate: now,
    completedDate: now,
    params: { walletId, amount },
  };
}
