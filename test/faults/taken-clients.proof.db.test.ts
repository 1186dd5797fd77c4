import {
  type Application,
  currency,
  Decimal,
  ExecutionConfiguration,
  openApplication,
  ShardBusyError,
  ShardIdentifier,
} from 'fw-actions';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WalletCreateAction } from '../../examples/wallet/actions/wallet-create-action.js';
import { WalletDepositMoneyAction } from '../../examples/wallet/actions/wallet-deposit-money-action.js';
import { application } from '../../examples/wallet/generated/application.js';
import type { Wallet } from '../../examples/wallet/models/wallet.js';
import type { ShardSession } from '../../runtime/sharding/shard-database.js';
import { describeOn } from '../databases/vitest.js';
import { PRINCIPAL } from './customer.js';

const GLOBAL = ShardIdentifier.of(0, 0);
const MEXICO = ShardIdentifier.of(1, 0);
const CLIENTS = 3;

describeOn('postgresql', 'While all connections of a shard are taken', (harness) => {
  let opened: Application;
  let taken: ShardSession[];

  beforeEach(async () => {
    const sharding = await harness.makeTopology({
      shards: [GLOBAL, MEXICO],
      migrations: application.migrations,
      dataSource: { maximumPoolSize: CLIENTS, connectTimeoutMs: 800 },
    });
    opened = await openApplication(application, {
      namespace: 'faults',
      sharding,
      collaborators: {},
      deliver: false,
      migrate: false,
    });
    taken = [];
  });
  afterEach(async () => {
    for (const session of taken) session.release();
    await opened.close();
  });

  const create = (country: string, configuration?: ExecutionConfiguration): Promise<Wallet> => {
    const params = {
      country,
      ownerId: crypto.randomUUID(),
      currency: currency('MXN'),
      initialBalance: new Decimal(1),
    };
    return opened.executor.execute(PRINCIPAL, WalletCreateAction, params, configuration);
  };
  const deposit = ({ id }: Wallet): Promise<Wallet> =>
    opened.executor.execute(PRINCIPAL, WalletDepositMoneyAction, { walletId: id, amount: new Decimal(1) });

  async function take(): Promise<void> {
    for (let count = 0; count < CLIENTS; count += 1)
      taken.push(await opened.databases.database(MEXICO).acquire());
  }

  it('executions there are refused as busy well before their deadline, and others continue', async () => {
    const [mexican, other] = await Promise.all([create('MX'), create('US')]);
    await take();
    let ended = 0;
    const startedMs = performance.now();
    const refused = [deposit(mexican), create('MX')].map((execution) =>
      execution
        .then(
          () => 'applied',
          (error: unknown) => (error instanceof ShardBusyError ? performance.now() - startedMs : error),
        )
        .finally(() => {
          ended += 1;
        }),
    );
    expect((await deposit(other)).version).toBe(2);
    expect(ended).toBe(0);
    // Refused as busy, before their deadlines.
    for (const tookMs of await Promise.all(refused)) expect(tookMs).toEqual(expect.any(Number));
    for (const session of taken.splice(0)) session.release();
    expect((await deposit(mexican)).version).toBe(2);
  });

  it('an execution whose deadline passes first has written nothing, and never will', async () => {
    await create('MX');
    await take();
    const hasty = ExecutionConfiguration.Builder.executionConfiguration().timeoutMs(300).build();
    const [refused, patient] = await Promise.allSettled([create('MX', hasty), create('MX')]);
    expect(refused).toMatchObject({
      reason: { code: expect.stringMatching(/^FW_(DEADLINE_EXCEEDED|SHARD_BUSY)$/) },
    });
    expect(patient.status).toBe('rejected');
    for (const session of taken.splice(0)) session.release();
    await create('MX');
    const { rows } = await opened.databases
      .database(MEXICO)
      .query({ text: 'select count(*)::int from eventlog.actions', values: [] });
    expect(rows).toEqual([[2]]);
  });
});
