import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import type { Application } from '../application.js';
import { mortalDatabases } from '../events/test-support/faulty-databases.js';
import { until } from '../events/test-support/ledger.js';
import { ALICE } from '../execution/test-support/accounts.js';
import {
  bookedIn,
  ended,
  startTrip,
  summaryOf,
  tripProcess,
  tripShards,
} from './test-support/trip-process.js';
import { type Trip, TripApproveAction } from './test-support/trips.js';

/** 1: every statement. */
const STRIDE = Number(process.env['FW_PROOF_STRIDE'] ?? 7);

/** An approved trip, which no process has noticed. */
async function approved(application: Application): Promise<Trip> {
  const trip = await startTrip(application, 'ASKED');
  return application.executor.execute(ALICE, TripApproveAction, { trip: trip.id.getValue() });
}

describeOnEachAdapter('A wait that has ended', (harness) => {
  test('is followed once, at whichever statement the process dies that follows it', async () => {
    const databases = await tripShards(harness);
    const setup = tripProcess(databases, {}, { deliver: false });
    let statement = 1;
    for (let survived = false; !survived; statement += STRIDE) {
      for (const after of [false, true]) {
        const trip = await approved(setup);
        const mortal = mortalDatabases(databases);
        mortal.arm(statement, after);
        const first = tripProcess(mortal.databases);
        await until(async () => mortal.dead() || (await summaryOf(setup, trip)).state === 'ENDED');
        survived = !mortal.dead();
        await first.events.stop(0);
        const second = tripProcess(databases);
        await ended(setup, trip);
        await second.events.stop(0);
        expect(await bookedIn(databases, trip)).toEqual([1, 1, 'BOOKED']);
      }
    }
    expect(statement).toBeGreaterThan(5);
  }, 600_000);
});
