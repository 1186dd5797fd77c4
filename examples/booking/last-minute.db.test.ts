import { type Application, assembleApplication, Decimal } from 'fw-actions';
import { afterEach, expect, test } from 'vitest';
import { until } from '../../runtime/events/test-support/ledger.js';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { AvailabilityAction } from './actions/availability-action.js';
import { BookingHoldAction } from './actions/booking-hold-action.js';
import { HotelOpenAction } from './actions/hotel-open-action.js';
import { MemberJoinAction } from './actions/member-actions.js';
import { application } from './generated/application.js';
import type { Hotel } from './models/hotel.js';
import { AMERICAS, EUROPE, MEMBERS } from './shards.js';

const WHO = { name: 'ada', claims: {} } as const;
const EVENING = new Date('2099-05-01T16:00:00.000Z');

describeOnEachAdapter('The last minute', (harness) => {
  let bookings: Application;

  afterEach(() => bookings.events.stop(0));

  test('lowers the price of the next night in hotels of each shard, where no room is booked', async () => {
    const { migrations } = application;
    const shards = [MEMBERS, EUROPE, AMERICAS];
    const databases = await harness.makeShards({ shards, migrations });
    bookings = assembleApplication(application, databases, {
      namespace: 'test.booking',
      collaborators: {},
      clock: { now: () => EVENING },
      warn: () => {},
    });
    const { executor, events } = bookings;

    const open = (region: string): Promise<Hotel> =>
      executor.execute(WHO, HotelOpenAction, {
        ...{ region, name: 'Inn', from: '2099-05-01', nights: 3, rooms: 2, price: new Decimal('99.99') },
      });
    const [empty, sold, away] = [await open('europe'), await open('europe'), await open('americas')];
    const { id: memberId } = await executor.execute(WHO, MemberJoinAction, {
      ...{ name: 'Ada', credit: new Decimal(500) },
    });
    const stay = { hotelId: sold.id, memberId, from: '2099-05-02', nights: 1 };
    await executor.execute(WHO, BookingHoldAction, stay);

    events.start();
    for (const shard of [EUROPE, AMERICAS]) {
      await until(async () => (await events.schedules.recurring(shard)).length === 1);
      const text = 'UPDATE eventlog.recurring_actions SET next_date = clock_timestamp()';
      await databases.database(shard).query({ text, values: [] });
      await until(async () => (await events.schedules.recurring(shard))[0]?.lastState === 'done');
    }

    const prices = async ({ id: hotelId }: Hotel): Promise<readonly string[]> => {
      const asked = { hotelId, from: '2099-05-01', nights: 3 };
      const nights = await executor.execute(WHO, AvailabilityAction, asked);
      return nights.map(({ price }) => price.toString());
    };
    expect(await prices(empty)).toEqual(['99.99', '79.99', '99.99']);
    expect(await prices(away)).toEqual(['99.99', '79.99', '99.99']);
    expect(await prices(sold)).toEqual(['99.99', '99.99', '99.99']);
  });
});
