import {
  type Application,
  assembleApplication,
  type Caller,
  currency,
  Decimal,
  type ExecutionConfiguration,
  type ShardedId,
} from 'fw-actions';
import type { DatabaseHarness } from '../../../test/databases/databases.js';
import { PATIENT } from '../../../test/databases/patient.js';
import { TransferInitiateAction } from '../actions/transfer-initiate-action.js';
import { WalletCreateAction, type WalletCreateParams } from '../actions/wallet-create-action.js';
import { WalletDepositMoneyAction } from '../actions/wallet-deposit-money-action.js';
import { WalletGetAction } from '../actions/wallet-get-action.js';
import { application } from '../generated/application.js';
import type { Transfer } from '../models/transfer.js';
import type { Wallet } from '../models/wallet.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from '../shards.js';
import { OWNER } from './wallets.js';

export const OPERATOR: Caller = { name: 'olivia', claims: { role: 'operator' } };

/** Actions of the wallet, called by an operator. */
export class WalletCalls {
  readonly executor: Application['executor'];

  constructor({ executor }: Pick<Application, 'executor'>) {
    this.executor = executor;
  }

  /** Opens a wallet of 100 EUR, unless the params say something else. */
  create(
    country: string,
    params: Partial<WalletCreateParams> = {},
    configuration?: ExecutionConfiguration,
  ): Promise<Wallet> {
    const all = { country, ownerId: OWNER, currency: currency('EUR'), initialBalance: new Decimal(100) };
    return this.executor.execute(OPERATOR, WalletCreateAction, { ...all, ...params }, configuration);
  }

  deposit({ id }: Wallet, amount: string | number, configuration?: ExecutionConfiguration): Promise<Wallet> {
    const params = { walletId: id, amount: new Decimal(amount) };
    return this.executor.execute(OPERATOR, WalletDepositMoneyAction, params, configuration);
  }

  /** Starts a transfer. */
  transfer({ id }: Wallet, destinationId: ShardedId<Wallet>, amount: string | number): Promise<Transfer> {
    const params = { sourceId: id, destinationId, amount: new Decimal(amount) };
    return this.executor.execute(OPERATOR, TransferInitiateAction, params);
  }

  get({ id }: Wallet): Promise<Wallet> {
    return this.executor.execute(OPERATOR, WalletGetAction, { walletId: id });
  }

  async balanceOf(wallet: Wallet): Promise<string> {
    return (await this.get(wallet)).balance.toString();
  }
}

/** The wallet on two fresh shards. It delivers events once the test starts that. */
export async function assembledWallet(harness: Pick<DatabaseHarness, 'makeShards'>): Promise<Application> {
  const { migrations } = application;
  const databases = await harness.makeShards({ shards: [GLOBAL_SHARD, MEXICO_SHARD], migrations });
  return assembleApplication(application, databases, {
    ...{ namespace: 'test.wallet', collaborators: {}, execution: PATIENT, deliver: false, warn: () => {} },
  });
}
