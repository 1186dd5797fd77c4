import { afterEach, expect, test } from 'vitest';
import { StallingProxy } from '../../../test/databases/proxy.js';
import { type ReplicatedServers, startReplicated } from '../../../test/databases/standby.js';
import { prepareServer } from '../../../test/databases/template.js';
import { serverUrl, testDataSource, topologyOf } from '../../../test/databases/topology.js';
import { describeOn } from '../../../test/databases/vitest.js';
import { gate } from '../../concurrency/test-support/gate.js';
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

describeOn('postgresql', 'A failover within a lease, to a standby that lacks the last commits', (harness) => {
  test.each(AT_WORK)(
    'skips no event of the new server, and reports what is lost (a handler at work: %s)',
    async (atWork) => {
      servers = await startReplicated('asynchronous');
      const { primary, standby } = servers;
      clients = await StallingProxy.start(primary);
      const there = (await harness.makeTopology({ shards: [THERE], migrations: ledgerMigrations })).groups[0]
        ?.members[0];
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
      const { opened: passed, open } = gate();
      const plain = async (envelope: CreditedEnvelope): Promise<void> => {
        if (envelope.modelId === mirror) return;
        if (envelope.modelId === busy) await passed;
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
});
