import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseHarness } from '../../../test/databases/databases.js';
import { rowsAsOwner } from '../../../test/databases/roles.js';
import { testServer } from '../../../test/databases/vitest.js';
import type { AttemptEnd } from '../../action/execution-report.js';
import { Decimal } from '../../domain/decimal.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import { snapshotSchema } from '../../migration/schema-snapshot.js';
import { expectedTable, tableDrift } from '../../migration/table-drift.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { configure, HERE, THERE } from '../test-support/accounts.js';
import {
  type Guest,
  guestMigrations,
  guestModel,
  newGuest,
  openHotel,
  type Script,
  type TestHotel,
} from '../test-support/guests.js';

/** Deadlines far above the time that a slow machine needs. */
const PATIENT = configure().timeoutMs(60_000).build();
const FIFTY = Array.from({ length: 50 }, (_, index) => `guest-${index}@hotel`);

function idsOf(guests: readonly Guest[]): readonly string[] {
  return guests.map(({ id }) => id.getValue());
}

describe.each(['postgresql', 'pglite'] as const)('Natural keys (%s)', (adapter) => {
  const harness = databaseHarness(adapter, testServer());
  let databases: DatabaseRegistry;

  beforeAll(async () => {
    databases = await harness.makeShards({ shards: [HERE, THERE], migrations: guestMigrations });
  }, 120_000);

  afterAll(() => harness.cleanUp());

  /** Two hotels: the other one behaves as another process, because it shares only the databases. */
  async function open() {
    for (const shard of databases.shards()) await rowsAsOwner(databases, shard, 'truncate guests');
    return { hotel: openHotel(databases), other: openHotel(databases) };
  }

  test('fifty concurrent additions of the same guests leave one of each, and none is refused', async () => {
    const { hotel, other } = await open();
    const races = [hotel, other, hotel, other].map((each) =>
      Promise.all(
        FIFTY.map((email) => each.run((plan, all) => plan.getOrAdd(all, newGuest(email)), PATIENT)),
      ),
    );
    const [first = [], ...others] = (await Promise.all(races)).map(idsOf);
    for (const ids of others) expect(ids).toEqual(first);
    expect(await hotel.guests.count(HERE)).toBe(FIFTY.length);
  });

  test('one process adds a guest once, despite concurrent look-ups', async () => {
    const { hotel } = await open();
    const guests = await Promise.all(FIFTY.map(() => hotel.checkIn('a@hotel')));
    expect(new Set(idsOf(guests)).size).toBe(1);
    // An execution starts from the state that another one has staged and not yet committed.
    const stays = await Promise.all(
      FIFTY.map(() =>
        hotel.run(async (plan, all) => {
          const guest = await plan.getOrAdd(all, newGuest('b@hotel'));
          if (guest.version === 1 && plan.staged('Guest', guest.id.getValue()) !== undefined) return 0;
          return plan.update(guest.stayed()).stays;
        }, PATIENT),
      ),
    );
    expect([...stays].sort((a, b) => a - b)).toEqual(FIFTY.map((_, index) => index));
    expect((await hotel.guests.getByKey({ email: 'b@hotel' }, HERE)).stays).toBe(FIFTY.length - 1);
  });

  test('a guest is found by all fields of a key on the given shard', async () => {
    const { hotel } = await open();
    const guest = await hotel.run((plan) =>
      plan.add(newGuest('a@hotel', { room: new Decimal('12.50'), bed: 'B' })),
    );
    const twin = await hotel.run((plan) => plan.add(newGuest('a@hotel', {}, THERE)));
    const { guests } = hotel;
    expect(idsOf([await guests.getByKey({ email: 'a@hotel' }, HERE)])).toEqual(idsOf([guest]));
    expect(idsOf([await guests.getByKey({ email: 'a@hotel' }, THERE)])).toEqual(idsOf([twin]));
    expect(await guests.findByKey({ room: new Decimal('12.5'), bed: 'B' }, HERE)).toBeDefined();
    expect(await guests.findByKey({ bed: 'B', room: new Decimal('12.500') }, HERE)).toBeDefined();
    // Text is compared character by character, as the index does.
    expect(await guests.findByKey({ room: new Decimal('12.5'), bed: 'b' }, HERE)).toBeUndefined();
    expect(await guests.findByKey({ room: new Decimal('12.5'), bed: 'B ' }, HERE)).toBeUndefined();
    await expect(guests.getByKey({ email: 'b@hotel' }, HERE)).rejects.toMatchObject({
      code: 'FW_MODEL_NOT_FOUND',
      message: 'Guest with email b@hotel does not exist',
    });
    for (const unfit of [
      { room: new Decimal('12.501'), bed: 'B' },
      { room: new Decimal('12.5'), bed: `B${' '.repeat(30)}` },
    ])
      await expect(guests.findByKey(unfit, HERE)).rejects.toMatchObject({ code: 'FW_VALIDATION' });
  });

  test('zero is one key, whatever its sign', async () => {
    const { hotel } = await open();
    const at = (room: string): Promise<Guest> =>
      hotel.run((plan) => plan.add(newGuest(`${room}@hotel`, { room: new Decimal(room), bed: 'B' })));
    await at('0');
    await expect(at('-0')).rejects.toMatchObject({ code: 'FW_UNIQUE_VIOLATION' });
    expect(await hotel.guests.findByKey({ room: new Decimal('-0.0'), bed: 'B' }, HERE)).toBeDefined();
  });

  test('a key that is too long for its index is refused as a value of the caller', async () => {
    const { hotel } = await open();
    const long = randomBytes(3_000).toString('base64');
    const ends = await Promise.allSettled(['a@hotel', long, 'b@hotel'].map((email) => hotel.checkIn(email)));
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(ends[1]).toHaveProperty('reason.code', 'FW_VALIDATION');
  });

  test('a taken key is looked up again, and refused if fresh reads change nothing', async () => {
    const { hotel, other } = await open();
    const ends: AttemptEnd[] = [];
    const configuration = configure()
      .timeoutMs(60_000)
      .onReport(({ attempts }) => ends.push(...attempts.map(({ end }) => end)))
      .build();
    let runs = 0;
    let looked = (): void => {};
    // Another process adds the guest between the look-up and the commit.
    const quicker = new Promise<void>((resolve) => {
      looked = resolve;
    }).then(() => other.checkIn('a@hotel'));
    const late = await hotel.run(async (plan, all) => {
      const found = await all.findByKey({ email: 'a@hotel' }, HERE);
      runs += 1;
      looked();
      await quicker;
      return found ?? plan.add(newGuest('a@hotel'));
    }, configuration);
    expect(runs).toBe(2);
    expect(ends).toEqual(['key-taken', 'nothing-staged']);
    expect(idsOf([late])).toEqual(idsOf([await other.checkIn('a@hotel')]));
    let blindRuns = 0;
    const blind = hotel.run((plan) => {
      blindRuns += 1;
      return plan.add(newGuest('a@hotel'));
    }, PATIENT);
    await expect(blind).rejects.toMatchObject({
      code: 'FW_UNIQUE_VIOLATION',
      message: 'Another Guest has the same email',
      constraint: 'guests_email_key',
    });
    expect(blindRuns).toBe(2);
    await other.checkIn('b@hotel');
    const names = ['a@hotel', 'b@hotel', 'free@hotel'];
    const seeking = await hotel.run((plan) => plan.add(newGuest(names.shift() ?? '')), PATIENT);
    expect(seeking.email).toBe('free@hotel');
  });

  test('one of fifty concurrent additions without a look-up is applied, the others fail with FW_UNIQUE_VIOLATION', async () => {
    const { hotel } = await open();
    let attempts = 0;
    const configuration = configure()
      .timeoutMs(60_000)
      .onReport((report) => {
        attempts += report.attempts.length;
      })
      .build();
    const added = FIFTY.map(() => hotel.run((plan) => plan.add(newGuest('a@hotel')), configuration));
    const outcomes = await Promise.allSettled(added);
    const refused = outcomes.filter((each) => each.status === 'rejected');
    expect(refused).toHaveLength(FIFTY.length - 1);
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'FW_UNIQUE_VIOLATION' });
    // They do not wait for each other, one after the other.
    expect(attempts).toBeLessThan(5 * FIFTY.length);
  });

  test('a key moves from one guest to another in one plan, and the old key is free', async () => {
    const { hotel } = await open();
    const ann = await hotel.checkIn('ann@hotel');
    const bob = await hotel.checkIn('bob@hotel');
    const cleo = await hotel.checkIn('cleo@hotel');
    // In either staging order: the index requires each key to be released before another row takes it.
    await hotel.run((plan) => {
      plan.add(newGuest('cleo@hotel'));
      plan.update(bob.renamed('ann@hotel'));
      plan.update(cleo.renamed('bob@hotel'));
      plan.update(ann.renamed('ann@home'));
    });
    const { guests } = hotel;
    const holders = ['ann@home', 'ann@hotel', 'bob@hotel'].map((email) => guests.getByKey({ email }, HERE));
    expect(idsOf(await Promise.all(holders))).toEqual(idsOf([ann, bob, cleo]));
    expect(await guests.count(HERE)).toBe(4);
    await hotel.run(async (plan, all) => {
      plan.update((await all.getByKey({ email: 'ann@home' }, HERE)).renamed('ann@work'));
      expect(await all.findByKey({ email: 'ann@home' }, HERE)).toBeUndefined();
      expect(idsOf([await all.getByKey({ email: 'ann@work' }, HERE)])).toEqual(idsOf([ann]));
    });
    await hotel.checkIn('ann@home');
    expect(await guests.count(HERE)).toBe(5);
  });

  test('keys move along a long chain of guests in one plan', async () => {
    const { hotel } = await open();
    const row = await Promise.all(FIFTY.slice(0, 12).map(hotel.checkIn));
    await hotel.run((plan) => {
      row.forEach((guest, index) => void plan.update(guest.renamed(FIFTY[index + 1] ?? '')));
    });
    const moved = row.map((_, index) => hotel.guests.getByKey({ email: FIFTY[index + 1] ?? '' }, HERE));
    expect(idsOf(await Promise.all(moved))).toEqual(idsOf(row));
  });

  test('a deleted guest releases its key: another guest takes it in the same plan, and the deleted one cannot return', async () => {
    const { hotel } = await open();
    const first = await hotel.checkIn('a@hotel');
    const second = await hotel.run(async (plan, all) => {
      const gone = plan.update((await all.getByKey({ email: 'a@hotel' }, HERE)).gone());
      expect(gone.state).toBe('GONE');
      return plan.getOrAdd(all, newGuest('a@hotel'));
    });
    expect(idsOf([second])).not.toEqual(idsOf([first]));
    expect(idsOf([await hotel.checkIn('a@hotel')])).toEqual(idsOf([second]));
    const back = hotel.run(async (plan, all) => {
      const gone = await all.getById(first.id, { includeDeleted: true });
      plan.update(gone.gone('HERE'));
    }, PATIENT);
    await expect(back).rejects.toMatchObject({ code: 'FW_UNIQUE_VIOLATION' });
  });

  test('two guests with one key, and guests that exchange keys, are refused before any statement is sent', async () => {
    const { hotel } = await open();
    const [ann, bob] = [await hotel.checkIn('ann@hotel'), await hotel.checkIn('bob@hotel')];
    const twice: Script = (plan) => {
      plan.add(newGuest('a@hotel'));
      plan.update(ann.renamed('a@hotel'));
    };
    const { verdict } = await hotel.explain(twice);
    expect(verdict).toMatchObject({ kind: 'refused', code: 'FW_DUPLICATE_KEY' });
    await expect(hotel.run(twice)).rejects.toMatchObject({ code: 'FW_DUPLICATE_KEY', modelName: 'Guest' });
    const swap = hotel.run((plan) => {
      plan.update(ann.renamed('bob@hotel'));
      plan.update(bob.renamed('ann@hotel'));
    });
    await expect(swap).rejects.toMatchObject({ code: 'FW_PLAN_MISUSE' });
    const both = await hotel.run((plan, all) =>
      Promise.all([plan.getOrAdd(all, newGuest('c@hotel')), plan.getOrAdd(all, newGuest('c@hotel'))]),
    );
    expect(new Set(idsOf(both)).size).toBe(1);
  });

  test('concurrent renames and look-ups agree, within a process and between two', async () => {
    const { hotel, other } = await open();
    const names = FIFTY.slice(0, 5);
    await hotel.checkIn(names[0] ?? '');
    const rename = (by: TestHotel, turn: number): Promise<string> =>
      by.run(async (plan, all) => {
        const [from = '', to = ''] = [names[turn % 5], names[(turn + 1) % 5]];
        const guest = await all.findByKey({ email: from }, HERE);
        if (guest === undefined || (await all.findByKey({ email: to }, HERE)) !== undefined) return 'none';
        return plan.update(guest.renamed(to)).email;
      }, PATIENT);
    const turns = Array.from({ length: 60 }, (_, turn) => rename(turn % 3 === 0 ? other : hotel, turn));
    const renamed = (await Promise.all(turns)).filter((name) => name !== 'none').length;
    const found = await Promise.all(names.map((email) => hotel.guests.findByKey({ email }, HERE)));
    const [guest, ...more] = found.filter((each) => each !== undefined);
    expect(more).toEqual([]);
    expect(guest?.version).toBe(1 + renamed);
  });

  test('a query sees a model that was found by key, and later changes are committed', async () => {
    const { hotel } = await open();
    const counts = await Promise.all(
      FIFTY.slice(0, 10).map(() =>
        hotel.run(async (plan, all) => {
          await plan.getOrAdd(all, newGuest('a@hotel'));
          return all.count(HERE);
        }, PATIENT),
      ),
    );
    expect(counts.every((count) => count <= 1)).toBe(true);
    expect(await hotel.guests.count(HERE)).toBe(1);
  });

  test('a table without the index of a key does not match its model', async () => {
    await open();
    const drift = async (): Promise<readonly string[]> => {
      const schema = await snapshotSchema(databases.database(HERE));
      return tableDrift([expectedTable(guestModel as unknown as ModelDescriptor)], schema);
    };
    expect(await drift()).toEqual([]);
    await rowsAsOwner(databases, HERE, 'drop index guests_email_key');
    const missing = ['table guests has no unique index guests_email_key on (email)'];
    expect(await drift()).toEqual(missing);
    await rowsAsOwner(databases, HERE, 'create unique index guests_email_key on guests (email)');
    expect(await drift()).toEqual(missing);
    await rowsAsOwner(databases, HERE, 'drop index guests_email_key');
    const index = "create unique index guests_email_key on guests (email) where state not in ('GONE')";
    await rowsAsOwner(databases, HERE, index);
    expect(await drift()).toEqual([]);
  });

  test('updates of one guest that do not change its keys are still folded', async () => {
    const { hotel } = await open();
    const { id } = await hotel.checkIn('a@hotel');
    let longest = 0;
    const configuration = configure()
      .timeoutMs(60_000)
      .onReport(({ attempts }) => {
        for (const { write } of attempts) longest = Math.max(longest, write?.chainLength ?? 0);
      })
      .build();
    const stay = (): Promise<Guest> =>
      hotel.run(async (plan, all) => plan.update((await all.getById(id)).stayed()), configuration);
    // The first request to fold only starts the check of the table, so later rounds fold.
    for (let round = 0; longest < 2 && round < 20; round += 1) await Promise.all(FIFTY.map(stay));
    expect(longest).toBeGreaterThan(1);
  });
});
