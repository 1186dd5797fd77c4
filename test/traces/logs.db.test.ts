import { afterEach, expect, onTestFinished, test } from 'vitest';
import type { Principal } from '../../runtime/domain/principal.js';
import type { Account } from '../../runtime/domain/test-support/account.js';
import {
  handlerOf,
  type Ledger,
  ledgerMigrations,
  openLedger,
  until,
} from '../../runtime/events/test-support/ledger.js';
import { AccountRepository, CreditAction, HERE } from '../../runtime/execution/test-support/accounts.js';
import { collectLog } from '../../runtime/http/test-support/collect-log.js';
import { WalletApplication } from '../../runtime/http/test-support/wallet-server.js';
import type { LogEntry } from '../../runtime/observability/logger.js';
import { DriverFailure } from '../../runtime/sharding/driver-failure.js';
import { wrappedRegistry } from '../../runtime/sharding/test-support/wrapped-registry.js';
import { describeOn } from '../databases/vitest.js';
import { traceInMemory, traceOff } from './trace-tree.js';

let ledger: Ledger | undefined;

afterEach(async () => {
  traceOff();
  await ledger?.events.stop(0);
  ledger = undefined;
});

class LoudCreditAction extends CreditAction {
  protected override perform(
    principal: Principal,
    params: Parameters<CreditAction['perform']>[1],
  ): Promise<Account> {
    this.log.info({ amount: params.amount }, 'crediting');
    return super.perform(principal, params);
  }
}

describeOn('postgresql', 'The log', (harness) => {
  test('of an action and of a handler has their ids and those of their trace', async () => {
    const lines: LogEntry[] = [];
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const loudly = () =>
      new LoudCreditAction({ now: () => new Date() }, new AccountRepository((ledger as Ledger).gateways));
    const opened = openLedger(databases, {
      log: collectLog(lines),
      limits: { surveyMs: 50 },
      handlers: [handlerOf('Mirror', ({ log }) => log.warn({ shard: 'own' }, 'mirrored'))],
      change: (actions) =>
        actions.map((each) => (each.name === 'Credit' ? { ...each, create: loudly } : each)),
    });
    ledger = opened;
    const { spans } = traceInMemory();
    const account = await opened.open();
    await opened.credit(account, 7);
    opened.events.start();
    await until(() => lines.length === 2 && spans().some(({ name }) => name === 'handle Mirror'));
    const idsOf = (name: string): object => {
      const context = spans()
        .find((span) => span.name === name)
        ?.spanContext();
      return { traceId: context?.traceId, spanId: context?.spanId };
    };
    const actionId = spans().find(({ name }) => name === 'execute Credit')?.attributes['fw.action.id'];
    expect(lines).toEqual([
      {
        level: 'info',
        message: 'crediting',
        action: 'Credit',
        amount: expect.anything(),
        ...idsOf('execute Credit'),
      },
      {
        ...{ level: 'warn', message: 'mirrored', handler: 'Mirror', shard: 'own', actionId },
        eventId: expect.any(String),
        ...idsOf('handle Mirror'),
      },
    ]);
  });

  test('of delivery names the shard on which scheduled actions fail', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const locked = wrappedRegistry(databases, (statement, send) => {
      if (!statement.text.includes('UPDATE eventlog.schedules AS s')) return send();
      throw new DriverFailure('lock timeout', { phase: 'answered', sqlState: '55P03' });
    });
    const opened = openLedger(locked, { limits: { surveyMs: 50 } });
    ledger = opened;
    opened.events.start();
    await until(() => opened.warnings.length > 0);
    expect(opened.warnings[0]).toBe('Shard (0, 0): Scheduled actions: lock timeout');
  });
});

test('The log of a failed request has the ids of its span', async () => {
  const lines: LogEntry[] = [];
  const server = new WalletApplication().server({
    log: collectLog(lines),
    customRoutes: async (fastify) => {
      fastify.get('/fault', () => {
        throw new Error('out of order');
      });
    },
  });
  const { url } = await server.listen({ host: '127.0.0.1', port: 0 });
  const { spans } = traceInMemory();
  onTestFinished(() => server.close(0));
  await fetch(`${url}/fault`);
  await until(() => spans().length === 1);
  const { traceId, spanId } = spans()[0]?.spanContext() ?? {};
  expect(lines.slice(1)).toMatchObject([{ message: 'request failed', path: '/fault', traceId, spanId }]);
  expect(spans()[0]?.attributes).toMatchObject({ 'http.route': '/fault', 'error.type': '500' });
});
