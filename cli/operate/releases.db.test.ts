import { afterEach, expect, test } from 'vitest';
import type { EventDescriptor } from '../../runtime/domain/descriptor.js';
import type { HandlerDescriptor } from '../../runtime/events/delivery/handler-descriptor.js';
import {
  creditedEvent,
  handlerOf,
  type Ledger,
  type LedgerOptions,
  ledgerMigrations,
  openLedger,
  until,
} from '../../runtime/events/test-support/ledger.js';
import { HERE } from '../../runtime/execution/test-support/accounts.js';
import type { DatabaseRegistry } from '../../runtime/sharding/database-registry.js';
import { describeOn } from '../../test/databases/vitest.js';
import { cliProject } from '../test-support/cli-project.js';
import type { Ran } from '../test-support/run-command.js';

const openedEvent: EventDescriptor = { ...creditedEvent, name: 'AccountOpened' };
const project = cliProject();
const ledgers: Ledger[] = [];

afterEach(() => Promise.all(ledgers.splice(0).map((ledger) => ledger.events.stop(0))));

function release(on: DatabaseRegistry, options: LedgerOptions): Ledger {
  const ledger = openLedger(on, { limits: { surveyMs: 50 }, ...options });
  ledgers.push(ledger);
  return ledger;
}

function events(...argv: readonly string[]): Promise<Ran> {
  return project.run('events', ...argv);
}

describeOn('postgresql', 'fw-gen events, with two releases', (harness) => {
  const open = async (): Promise<DatabaseRegistry> => {
    const topology = await harness.makeTopology({ shards: [HERE], migrations: ledgerMigrations });
    project.configure(topology);
    return project.databases();
  };

  test('lag shows a scheduled action that no process knows, and exits with 1', async () => {
    const on = await open();
    const after = release(on, {});
    await after.creditLater(await after.open(), 1, new Date(0));
    expect((await events('lag')).code).toBe(0);
    release(on, { change: (actions) => actions.filter(({ name }) => name !== 'Credit') }).events.start();
    const waits = 'scheduled actions wait: this process does not know the scheduled action Credit';
    await until(async () => (await events('lag')).info.includes(waits));
    expect((await events('lag')).code).toBe(1);
  });

  test('lag names a handler that no running process has, and exits with 1', async () => {
    const on = await open();
    const before = release(on, { handlers: [handlerOf('Removed', () => {})] });
    before.events.start();
    await before.credit(await before.open());
    await until(async () => (await before.events.lag())[0]?.consumers[0]?.behind === 0);
    await before.events.stop();
    // No process delivers: that alone is no reason to act.
    const stopped = await events('lag');
    expect([stopped.code, stopped.info]).toEqual([0, expect.stringMatching(/Removed .* no process$/m)]);
    release(on, { handlers: [handlerOf('Other', () => {})] }).events.start();
    const waits =
      /Removed .* waits: no running process has it; if it was removed, delete its row in eventlog\.consumers/;
    await until(async () => waits.test((await events('lag')).info));
    expect((await events('lag')).code).toBe(1);
    await before.rows("delete from eventlog.consumers where name = 'Removed'");
    await until(async () => (await events('lag')).code === 0);
  });

  test('narrow lets a release continue that selects less, and says where there was nothing to narrow', async () => {
    const on = await open();
    const seen: string[] = [];
    const handler = handlerOf('Statistics', ({ id }) => void seen.push(id));
    const releaseOf = (selected: HandlerDescriptor['events']): Ledger =>
      release(on, { handlers: [{ ...handler, events: selected }] });
    const earlier = releaseOf([creditedEvent, openedEvent]);
    await earlier.events.register(on.database(HERE));
    await earlier.credit(await earlier.open());
    releaseOf([creditedEvent]).events.start();
    await until(async () =>
      (await events('lag')).info.includes('its stored selection has event:AccountOpened'),
    );
    expect((await events('lag')).code).toBe(1);
    expect(seen).toEqual([]);
    const narrow = ['narrow', 'Statistics', '--without', 'event:AccountOpened'];
    expect(await events(...narrow)).toMatchObject({ code: 0, info: expect.stringContaining('narrowed') });
    await until(() => seen.length === 1);
    expect(await events(...narrow)).toMatchObject({
      code: 1,
      info: expect.stringContaining('does not select event:AccountOpened'),
    });
  });

  test('replay of a transactional handler needs --again, and then handles each event a second time', async () => {
    const on = await open();
    const seen: string[] = [];
    const copy = handlerOf('Copy', ({ id }) => void seen.push(id), { transactional: true });
    const ledger = release(on, { handlers: [copy] });
    ledger.events.start();
    await ledger.credit(await ledger.open());
    await until(async () => seen.length === 1 && (await ledger.events.lag())[0]?.consumers[0]?.behind === 0);
    const replay = ['replay', 'Copy', '--from', '2020-01-01T00:00:00Z'];
    const refused = await events(...replay);
    expect(refused.code).not.toBe(0);
    expect(refused.error).toContain('applies each of its writes a second time');
    expect((await ledger.events.lag())[0]?.consumers).toHaveLength(1);
    expect((await events(...replay, '--again')).code).toBe(0);
    await until(() => seen.length === 2);
  });
});
