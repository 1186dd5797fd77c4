import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ShardIdentifier } from 'fw-actions';
import { type DatabaseRegistry, openDatabases } from 'fw-actions/operate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { topologyYaml } from '../../cli/test-support/topology-yaml.js';
import { temporaryFolder } from '../../runtime/config/test-support/temporary-folder.js';
import { until } from '../../runtime/events/test-support/ledger.js';
import { type ServerProcess, startServerProcess } from '../../test/customer/server-process.js';
import { databaseHarness } from '../../test/databases/databases.js';
import { testServer } from '../../test/databases/vitest.js';
import { SeededRandom } from '../../test/faults/seeded-random.js';
import { application } from './generated/application.js';
import { AMERICAS, EUROPE, MEMBERS } from './shards.js';
import { Clients } from './test-support/clients.js';

/** Rounds of races and of kills; `npm run proof:booking` has more. */
const ROUNDS = Number(process.env['FW_PROOF_BOOKING'] ?? 1);
const SEED = Number(process.env['FW_SEED'] ?? 1);
const NIGHTS = 4;
const CREDIT = 1_000;
const PRICE = 100;

const harness = databaseHarness('postgresql', testServer());
const directory = temporaryFolder();
const random = new SeededRandom(SEED);
let config: string;
let databases: DatabaseRegistry;
let processes: ServerProcess[] = [];
const clients = new Clients(() => processes.map(({ url }) => url));

const start = (): Promise<ServerProcess> => startServerProcess(config, {}, 'booking');

beforeAll(async () => {
  const { migrations } = application;
  const topology = await harness.makeTopology({ shards: [MEMBERS, EUROPE, AMERICAS], migrations });
  config = join(directory, 'fw.config.yaml');
  writeFileSync(config, topologyYaml(topology));
  databases = openDatabases(topology);
  processes = await Promise.all([start(), start()]);
});

afterAll(async () => {
  await Promise.all(processes.map((each) => each.stop()));
  await databases?.close(0);
  await harness.cleanUp();
});

async function rows(shard: ShardIdentifier, text: string): Promise<readonly (readonly unknown[])[]> {
  return (await databases.database(shard).query({ text, values: [] })).rows;
}

/** Of all hotels, which are on two shards. */
async function hotelRows(text: string): Promise<readonly (readonly unknown[])[]> {
  return (await Promise.all([EUROPE, AMERICAS].map((shard) => rows(shard, text)))).flat();
}

const idOf = ({ body }: { readonly body: Readonly<Record<string, unknown>> }): string => String(body['id']);

async function openHotels(rooms: number): Promise<readonly string[]> {
  const open = (region: string) =>
    clients.post('/hotels', { region, name: 'Inn', from: '2026-05-01', nights: NIGHTS, rooms, price: PRICE });
  return (await Promise.all(['europe', 'americas'].map(open))).map(idOf);
}

async function joinMembers(count: number, credit: number): Promise<readonly string[]> {
  const join = () => clients.post('/members', { name: 'Ada', credit });
  return (await Promise.all(Array.from({ length: count }, join))).map(idOf);
}

/** A request for one to three nights in a row. */
function anyStay(hotels: readonly string[], members: readonly string[]): object {
  const first = random.below(NIGHTS - 1);
  return {
    hotelId: random.pick(hotels),
    memberId: random.pick(members),
    from: `2026-05-0${first + 1}`,
    nights: 1 + random.below(Math.min(3, NIGHTS - first)),
  };
}

/** Rooms booked by night, by what the nights say and by what the bookings say. */
async function occupancy(): Promise<readonly (readonly number[])[]> {
  const text = `SELECT n.rooms, n.booked, (SELECT count(*) FROM bookings b
    WHERE b.state <> 'RELEASED' AND b.room_night_ids ? n.id::text) FROM room_nights n`;
  return (await hotelRows(text)).map((row) => row.map(Number));
}

async function expectNoOverbooking(): Promise<void> {
  for (const [rooms = 0, booked = 0, held] of await occupancy()) {
    expect(booked).toBeLessThanOrEqual(rooms);
    expect(held).toBe(booked);
  }
}

/** The time of every hold is over. */
async function endHolds(): Promise<void> {
  const text = `UPDATE eventlog.schedules SET next_date = clock_timestamp()
    WHERE state = 'pending' AND action_name = 'BookingReleaseAction'`;
  await hotelRows(text);
}

describe('Two processes of the booking service', () => {
  test('never sell a room twice, however many want the last one', async () => {
    const members = await joinMembers(3, CREDIT);
    for (let round = 0; round < ROUNDS; round += 1) {
      const hotels = await openHotels(2);
      const answers = await Promise.all(
        Array.from({ length: 40 }, () => clients.post('/bookings', anyStay(hotels, members))),
      );
      const outcomes = new Set(answers.map(({ status, body }) => `${status} ${body['code']}`));
      expect([...outcomes].sort(), `FW_SEED=${SEED}`).toEqual(['201 undefined', '409 FW_REFUSED']);
      await expectNoOverbooking();
    }
    await endHolds();
    await until(async () => (await occupancy()).every(([, booked]) => booked === 0));
  });

  test('end every booking in an allowed state and count points once, though they are killed', async () => {
    const hotels = await openHotels(8);
    const members = await joinMembers(4, CREDIT);
    for (let round = 0; round < ROUNDS; round += 1) {
      const stays = Array.from({ length: 24 }, () => stay(anyStay(hotels, members)));
      await kill();
      await Promise.all(stays);
    }
    await endHolds();
    const open = "SELECT id FROM bookings WHERE state IN ('HELD', 'PAYING')";
    await until(async () => (await hotelRows(open)).length === 0);

    const confirmed = await hotelRows("SELECT member_id, total FROM bookings WHERE state = 'CONFIRMED'");
    const payments = await hotelRows(
      `SELECT p.state, b.state FROM payments p JOIN bookings b ON b.id = p.booking_id`,
    );
    const pairs = new Set(payments.map((pair) => pair.join(' ')));
    expect([...pairs].filter((pair) => !['PAID CONFIRMED', 'REFUSED RELEASED'].includes(pair))).toEqual([]);
    expect(confirmed.length).toBeGreaterThan(0);
    await expectNoOverbooking();

    const spent = (member: string): number =>
      confirmed.filter(([id]) => id === member).reduce((sum, [, total]) => sum + Number(total), 0);
    const books = `SELECT id, credit::int, points::int FROM members WHERE id = ANY('{${members.join()}}') ORDER BY id`;
    const expected = [...members].sort().map((id) => [id, CREDIT - spent(id), spent(id)]);
    const counted = async (): Promise<number> =>
      (await rows(MEMBERS, "SELECT 1 FROM eventlog.events WHERE event_type = 'PointsEarnedEvent'")).length;
    await until(async () => (await counted()) >= confirmed.length);
    expect(await rows(MEMBERS, books), `FW_SEED=${SEED}`).toEqual(expected);
    expect(await counted()).toBe(confirmed.length);
  });
});

/** Holds a room, and pays it as a rule. */
async function stay(wanted: object): Promise<void> {
  const pays = random.chance(0.8);
  const held = await clients.post('/bookings', wanted);
  if (held.status !== 201 || !pays) return;
  await clients.post(`/bookings/${idOf(held)}/pay`);
}

/** Kills one of the processes in the middle of its work, and starts another one. */
async function kill(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 50 + random.below(300)));
  const index = random.below(processes.length);
  const victim = processes[index];
  if (victim === undefined) throw new Error('There is no process');
  const gone = new Promise((resolve) => victim.process.once('exit', resolve));
  victim.process.kill('SIGKILL');
  processes = processes.filter((each) => each !== victim);
  await gone;
  processes = [...processes, await start()];
}
