import { afterEach, expect, test } from 'vitest';
import { StallingProxy } from '../../../test/databases/proxy.js';
import { type ReplicatedServers, startReplicated } from '../../../test/databases/standby.js';
import { prepareServer } from '../../../test/databases/template.js';
import { serverUrl, testDataSource, topologyOf } from '../../../test/databases/topology.js';
import { describeOn } from '../../../test/databases/vitest.js';
import { postgresAdapter } from '../../databases.js';
import { Decimal } from '../../domain/decimal.js';
import { CreditAction, HERE, THERE } from '../../execution/test-support/accounts.js';
import { DatabaseRegistry } from '../../sharding/database-registry.js';
import {
  type CreditedEnvelope,
  handlerOf,
  type Ledger,
  ledgerMigrations,
  openLedger,
  until,
} from '../test-support/ledger.js';

const INSERT = 'INSERT INTO seen (handler, event_id, model_id, version) VALUES ($1, $2, $3, $4)';
const LOST = 12;
/** While a handler works, the checkpoint stays and the state in memory runs ahead of it. */
const AT_WORK = [false, true];

let servers: ReplicatedServers | undefined;
let clients: StallingProxy | undefined;

afterEach(async () => {
  await clients?.stop();
  await servers?.destroy();
  [clients, servers] = [undefined, undefined];
});

async function idsOf(ledger: Ledger, sql: string): Promise<readonly unknown[]> {
  return (await ledger.rows(sql)).map(([id]) => id);
}

describeOn(
  'postgresql',
  'A failover shorter than a lease, to a standby without the last transactions',
  (harness) => {
    test.each(AT_WORK)(
      'skips no event of the new server, and reports what is lost (a handler at work: %s)',
      async (atWork) => {
        servers = await startReplicated('asynchronous');
        const { primary, standby } = servers;
        clients = await StallingProxy.start(primary);
        const there = (await harness.makeTopology({ shards: [THERE], migrations: ledgerMigrations }))
          .groups[0]?.members[0];
        if (there === undefined) throw new Error('There is one');
        const url = serverUrl({ ...primary, port: clients.port }, primary.database);
        const topology = topologyOf([
          [HERE, testDataSource(url, await prepareServer(primary, HERE, ledgerMigrations))],
          [THERE, there.primary],
        ]);
        const databases = new DatabaseRegistry(topology, { adapters: [postgresAdapter], warn: () => {} });
        const handled: string[] = [];
        let mirror = '';
        let busy = '';
        let open = (): void => {};
        const gate = new Promise<void>((resolve) => {
          open = resolve;
        });
        const plain = async (envelope: CreditedEnvelope): Promise<void> => {
          if (envelope.modelId === mirror) return;
          if (envelope.modelId === busy) await gate;
          await envelope.execute(CreditAction, { account: mirror, amount: new Decimal(1) });
          handled.push(envelope.id);
        };
        const copy = async ({ id, modelId, modelVersion, transaction }: CreditedEnvelope): Promise<void> => {
          await transaction.query({ text: INSERT, values: ['Copy', id, modelId, modelVersion] });
        };
        // Longer than the failover: no lease expires before the new server is available.
        const limits = { leaseMs: 120_000 };
        const ledger = openLedger(databases, {
          handlers: [handlerOf('Plain', plain), handlerOf('Copy', copy, { transactional: true })],
          limits,
        });
        const behind = async (): Promise<number> =>
          (await ledger.events.lag())
            .filter(({ shard }) => shard === HERE)
            .flatMap(({ consumers }) => consumers.map((each) => each.behind))
            .reduce((sum, each) => sum + each, 0);
        try {
          mirror = await ledger.open(THERE);
          const accounts = await Promise.all([1, 2, 3].map(() => ledger.open()));
          ledger.events.start();
          for (const account of accounts) await ledger.credit(account);
          await until(async () => handled.length === accounts.length && (await behind()) === 0);
          if (atWork) {
            busy = accounts[0] ?? '';
            await ledger.credit(busy);
          }
          const lively = accounts.slice(1);
          await until(
            async () => (await ledger.rows('SELECT FROM seen')).length === accounts.length + Number(atWork),
          );
          await servers.untilReplicated();
          await servers.detach();
          for (let each = 0; each < LOST; each += 1) await ledger.credit(lively[each % 2] ?? '');
          await until(
            async () => handled.length === accounts.length + LOST && (atWork || (await behind()) === 0),
          );

          await servers.failOver();
          clients.lead(standby);
          clients.cut();
          // The pool discovers cut connections one by one.
          for (let each = 0; each < 2 * LOST; each += 1) {
            await until(() =>
              ledger.credit(lively[each % 2] ?? '').then(
                () => true,
                () => false,
              ),
            );
          }
          open();
          await until(async () => (await behind()) === 0);
          const log = await idsOf(ledger, 'SELECT id FROM eventlog.events ORDER BY transaction_id, position');
          expect(log.length).toBeGreaterThanOrEqual(accounts.length + 2 * LOST);
          await until(() => log.every((id) => handled.includes(String(id))));
          expect(await idsOf(ledger, 'SELECT event_id FROM seen ORDER BY nr')).toEqual(log);

          await until(async () => ((await ledger.events.failovers(HERE))[0]?.ahead.length ?? 0) > 0);
          const [failover, ...more] = await ledger.events.failovers(HERE);
          expect(more).toEqual([]);
          expect(failover).toMatchObject({ previous: '00000001', timeline: '00000002' });
          const gone = handled.filter((id) => !log.includes(id));
          expect(gone).toHaveLength(LOST);
          expect(failover?.ahead).toEqual([
            expect.objectContaining({ handler: 'Plain', events: LOST, eventIds: gone }),
          ]);
          const causes = failover?.lostCauses.filter(({ kind }) => kind === 'key') ?? [];
          expect(causes.map(({ cause }) => cause).sort()).toEqual([...gone].sort());
          expect((await ledger.events.lag()).find(({ shard }) => shard === HERE)?.failovers).toHaveLength(1);
          expect(
            ledger.warnings.filter((warning) => warning.includes('timeline 00000001 to 00000002')),
          ).toHaveLength(1);
          expect(await ledger.events.acknowledgeFailovers(HERE, await ledger.events.failovers(HERE))).toBe(1);
          expect(await ledger.events.failovers(HERE)).toEqual([]);
        } finally {
          await ledger.events.stop();
          await databases.close(0);
        }
      },
      240_000,
    );
  },
);

/** A share of `npm run proof:failover`. */
const LOAD_MS = Number(process.env['FW_PROOF_FAILOVER_MS'] ?? 1_500);
const WRITERS = 6;

describeOn('postgresql', 'A failover to a synchronous standby under load', () => {
  test('loses no acknowledged event and delivers every event', async () => {
    servers = await startReplicated('synchronous');
    const { primary, standby } = servers;
    clients = await StallingProxy.start(primary);
    const url = serverUrl({ ...primary, port: clients.port }, primary.database);
    const user = await prepareServer(primary, HERE, ledgerMigrations);
    const topology = topologyOf([[HERE, testDataSource(url, user)]]);
    const databases = new DatabaseRegistry(topology, { adapters: [postgresAdapter], warn: () => {} });
    const handled = new Set<string>();
    const copy = async ({ id, modelId, modelVersion, transaction }: CreditedEnvelope): Promise<void> => {
      await transaction.query({ text: INSERT, values: ['Copy', id, modelId, modelVersion] });
    };
    const ledger = openLedger(databases, {
      handlers: [
        handlerOf('Plain', ({ id }) => void handled.add(id)),
        handlerOf('Copy', copy, { transactional: true }),
      ],
      limits: { leaseMs: 120_000 },
    });
    let writing = true;
    const acknowledged = new Map<string, number>();
    const write = async (account: string): Promise<void> => {
      while (writing) {
        await ledger.credit(account).then(
          ({ version }) => acknowledged.set(account, version),
          () => new Promise((resolve) => setTimeout(resolve, 20)),
        );
      }
    };
    const grows = async (): Promise<void> => {
      const before = [...acknowledged.values()].reduce((sum, each) => sum + each, 0);
      const since = performance.now();
      await until(() => {
        const now = [...acknowledged.values()].reduce((sum, each) => sum + each, 0);
        return now > before + WRITERS && performance.now() - since > LOAD_MS;
      });
    };
    try {
      const accounts = await Promise.all(Array.from({ length: WRITERS }, () => ledger.open()));
      ledger.events.start();
      const writers = accounts.map(write);
      await grows();
      await servers.failOver();
      clients.lead(standby);
      clients.cut();
      await grows();
      writing = false;
      await Promise.all(writers);
      const stored = new Map(
        (await ledger.rows('SELECT id, version::int FROM accounts')).map(([id, version]) => [id, version]),
      );
      for (const [account, version] of acknowledged)
        expect(Number(stored.get(account))).toBeGreaterThanOrEqual(version);
      const log = await idsOf(ledger, 'SELECT id FROM eventlog.events ORDER BY transaction_id, position');
      await until(() => log.every((id) => handled.has(String(id))));
      await until(async () => (await ledger.rows('SELECT FROM seen')).length === log.length);
      expect(await idsOf(ledger, 'SELECT event_id FROM seen ORDER BY nr')).toEqual(log);
      const failovers = await ledger.events.failovers(HERE);
      expect(failovers.map(({ previous, ahead }) => [previous, ahead])).toEqual([['00000001', []]]);
    } finally {
      writing = false;
      await ledger.events.stop();
      await databases.close(0);
    }
  }, 240_000);
});
