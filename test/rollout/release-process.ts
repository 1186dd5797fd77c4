/**
 * A process of one release of the wallet. Its argument is a `ProcessPlan` as JSON. It runs the requests that its parent
 * sends, and delivers events, until it receives SIGTERM or is killed.
 */

import { TransferInitiateAction } from '../../examples/wallet/actions/transfer-initiate-action.js';
import { WalletDepositMoneyAction } from '../../examples/wallet/actions/wallet-deposit-money-action.js';
import type { Wallet } from '../../examples/wallet/models/wallet.js';
import { Wallet as WalletClass } from '../../examples/wallet/models/wallet.js';
import { ExecutionConfiguration } from '../../runtime/action/execution-configuration.js';
import { openApplication } from '../../runtime/application.js';
import { Decimal } from '../../runtime/domain/decimal.js';
import { ShardedId } from '../../runtime/domain/id.js';
import { testDataSource, topologyOf } from '../databases/topology.js';
import type { ProcessPlan, Reply, Request } from './protocol.js';
import { CheckAction, DepositLaterAction, definitionOf, OpenAction, SHARDS } from './releases.js';

const plan = JSON.parse(process.argv[2] ?? '') as ProcessPlan;
const sharding = topologyOf(
  SHARDS.map((shard, index) => {
    const url = plan.urls[index];
    if (url === undefined) throw new Error('Each shard has a database');
    return [shard, testDataSource(url, plan.user, { maximumPoolSize: 6 })] as const;
  }),
);
const WHO = { name: 'rollout', claims: { role: 'operator' } } as const;

const { executor, close } = await openApplication(definitionOf(plan), {
  namespace: 'test.rollout',
  collaborators: {},
  sharding,
  delivery: { leaseMs: 2_000, surveyMs: 200 },
  warn: (message) => console.error(`release ${plan.release}: ${message}`),
});

const walletOf = (id: string): ShardedId<Wallet> => ShardedId.of(WalletClass, id);

async function run(request: Request): Promise<string> {
  const keyed = ExecutionConfiguration.Builder.executionConfiguration().idempotencyKey(request.key).build();
  switch (request.kind) {
    case 'open': {
      const { shard, balance } = request;
      return (await executor.execute(WHO, OpenAction, { shard, balance }, keyed)).id.getValue();
    }
    case 'deposit': {
      const params = { walletId: walletOf(request.wallet), amount: new Decimal(request.amount) };
      return (await executor.execute(WHO, WalletDepositMoneyAction, params, keyed)).id.getValue();
    }
    case 'transfer': {
      const [sourceId, destinationId] = [walletOf(request.from), walletOf(request.to)];
      const params = { sourceId, destinationId, amount: new Decimal(request.amount) };
      return (await executor.execute(WHO, TransferInitiateAction, params, keyed)).id.getValue();
    }
    case 'later':
      await executor.execute(WHO, DepositLaterAction, { walletId: walletOf(request.wallet) }, keyed);
      return '';
    case 'check':
      await executor.execute(WHO, CheckAction, { walletId: walletOf(request.wallet) }, keyed);
      return '';
  }
}

function reply(message: Reply): void {
  process.send?.(message, () => {});
}

process.on('message', (request: Request) => {
  run(request).then(
    (result) => reply({ key: request.key, result }),
    (error: unknown) => reply({ key: request.key, error: String(error) }),
  );
});
process.on('SIGTERM', () => void close().finally(() => process.exit(0)));
// The parent is gone.
process.on('disconnect', () => process.exit(1));
reply({ key: 'ready', result: '' });
