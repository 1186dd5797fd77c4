import { afterEach, expect, test, vi } from 'vitest';
import { type Application, assembleApplication } from '../../runtime/application.js';
import { Decimal } from '../../runtime/domain/decimal.js';
import { RefusedError, ShardUnavailableError } from '../../runtime/errors.js';
import { until } from '../../runtime/events/test-support/ledger.js';
import { ALICE, HERE, OpenAction, THERE } from '../../runtime/execution/test-support/accounts.js';
import {
  Trip,
  TripStartAction,
  type TripTerms,
  tripApplication,
} from '../../runtime/sagas/test-support/trips.js';
import { describeOn } from '../../test/databases/vitest.js';
import { cliProject } from '../test-support/cli-project.js';
import type { Ran } from '../test-support/run-command.js';

/** Creating databases takes long on a busy machine. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** The flight is refused, and its cancellation never ends. */
const endless: TripTerms = {
  flight: { refused: (trip) => trip.to('CANCELLING') },
  cancelling: { timeoutMs: 100 },
  trouble: ({ count }) => {
    if (count > 0) throw new RefusedError('No seat');
    throw new ShardUnavailableError('(1, 0)', 'it is a test');
  },
};
const CANCELLING = "FROM eventlog.saga_steps WHERE step = 'CANCELLING'";
const project = cliProject();
let application: Application | undefined;

afterEach(async () => {
  await application?.close();
  application = undefined;
});

const sagas = (...argv: readonly string[]): Promise<Ran> => project.run('sagas', ...argv);

describeOn('postgresql', 'fw-gen sagas', (harness) => {
  async function start(terms: TripTerms): Promise<{ trip: Trip; id: string; opened: Application }> {
    const definition = tripApplication(terms);
    const topology = await harness.makeTopology({ shards: [HERE, THERE], migrations: definition.migrations });
    project.configure(topology);
    const opened = assembleApplication(definition, project.databases(), {
      namespace: 'test',
      collaborators: {},
      delivery: { leaseMs: 500, surveyMs: 50 },
      execution: { timeoutMs: 10_000 },
      warn: () => {},
    });
    application = opened;
    const account = (shard: typeof HERE) =>
      opened.executor.execute(ALICE, OpenAction, { shard, balance: new Decimal(0) });
    const [flights, hotels] = [await account(THERE), await account(HERE)];
    const planned = Trip.plan(HERE, flights.id.getValue(), hotels.id.getValue());
    const trip = await opened.executor.execute(ALICE, TripStartAction, { trip: planned });
    return { trip, id: trip.id.getValue(), opened };
  }

  const isStuck = ({ sagas: running }: Application, id: string, reason: string): Promise<void> =>
    until(async () => (await running.show(id)).stuck === reason);

  test('retry continues a parked saga with the principal of its last step', async () => {
    let broken = true;
    const { id, opened } = await start({
      trouble: ({ count }) => {
        if (broken) throw new RefusedError(count < 0 ? 'Not refundable' : 'No seat');
      },
      flight: { refused: (trip) => trip.to('CANCELLING') },
    });
    await isStuck(opened, id, 'parked');
    broken = false;
    const { code, info } = await sagas('retry', id.toUpperCase());
    expect([code, info.toLowerCase()]).toEqual([0, expect.stringContaining(`${id} is being retried`)]);
    await until(async () => (await opened.sagas.show(id)).state === 'ENDED');
    const trail = await project.rows("SELECT principal FROM eventlog.actions WHERE name = 'Saga.retry'");
    expect(trail).toEqual([['alice']]);
    const again = await sagas('retry', id, '--format', 'json');
    expect([again.code, again.error]).toEqual([1, `${id} has ended.`]);
    expect(JSON.parse(again.info)).toMatchObject({ saga: { id, state: 'ENDED' } });
  });

  test('abandon ends a saga in its current state, and its step can no longer take effect', async () => {
    const { id, opened } = await start(endless);
    await isStuck(opened, id, 'overdue');
    const { code, info } = await sagas('abandon', id, '--note', 'booked by hand', '--format', 'json');
    const failure = { code: 'ABANDONED', message: 'booked by hand' };
    expect([code, JSON.parse(info)]).toMatchObject([
      0,
      { saga: { state: 'ENDED', step: 'CANCELLING', failure }, order: { state: 'done' } },
    ]);
    expect((await opened.sagas.show(id)).stuck).toBeUndefined();
    await until(async () => (await project.rows(`SELECT ${CANCELLING}`, THERE)).length === 1);
    const [step] = await project.rows(`SELECT state, step, failure_message ${CANCELLING}`, THERE);
    expect(step).toEqual(['VOID', 'CANCELLING', 'booked by hand']);
    const trail = await project.rows("SELECT principal FROM eventlog.actions WHERE name = 'Saga.abandon'");
    expect(trail).toEqual([['fw:operator']]);
  });

  test('keeps the order and reports it if no process delivers', async () => {
    const { id, opened } = await start(endless);
    await isStuck(opened, id, 'overdue');
    await opened.events.stop(0);
    const { code, error } = await sagas('abandon', id, '--note', 'x', '--wait', '0', '--as', 'ada');
    expect([code, error]).toEqual([
      1,
      expect.stringContaining('no server process with event delivery took the order'),
    ]);
    const orders = await project.rows(
      "SELECT principal FROM eventlog.schedules WHERE action_name = 'Saga.abandon'",
    );
    expect(orders).toEqual([['ada']]);
  });

  test('refuses incomplete orders, and orders for unknown sagas', async () => {
    project.configure(await harness.makeTopology({ shards: [HERE] }));
    const stuck = '01a1fe5a-6ec7-7421-8000-cc38013f2198';
    await project.rows(
      `INSERT INTO eventlog.sagas VALUES ('${stuck}', 'PARKED', 1, 'TransferSaga', 'INITIATED', 1, NULL, 'X', 'x', now(), now())`,
    );
    for (const argv of [
      ['abandon', stuck],
      ['abandon', stuck, '--note', ' '],
      ['retry'],
      ['retry', 'x'],
      ['retry', '01a1fe5a-6ec7-7421-8000-cc38013f2199'],
      ['retry', '01a1fe5a-6ec7-7421-8fc0-cc38013f2198'],
      ['retry', stuck, '--as', 'fw:handler:Mailer'],
      ['retry', stuck, '--wait', 'long'],
    ]) {
      const { code, error } = await sagas(...argv);
      expect([argv, code, error === '']).toEqual([argv, 2, false]);
      expect(error).not.toContain('    at ');
    }
  });
});
