import { afterEach, describe, expect, it } from 'vitest';
import { testServer } from '../databases/vitest.js';
import { runFaults } from './fault-run.js';
import { EVERYTHING } from './fault-schedule.js';
import { FaultWorld } from './fault-world.js';
import { summaryOf } from './summary.js';
import { EVERY_REQUEST, HOT_WALLETS, KEYED_REQUESTS } from './wallet-requests.js';

/** `npm run proof:faults`: the long form. */
const isLong = process.env['FW_PROOF_FAULTS'] !== undefined;
const SEED = Number(process.env['FW_SEED'] ?? Math.floor(Math.random() * 1_000_000));
/** A slower run ends earlier, in milliseconds, because the machine may be busy. */
const AT_MOST_MS = isLong ? 600_000 : 20_000;

let world: FaultWorld;
afterEach(() => world?.close());

describe('Executions over connections that break', () => {
  it.each([
    { name: 'everything', requestMix: EVERY_REQUEST, faults: isLong ? 1_500 : 150 },
    { name: 'a few hot wallets', requestMix: HOT_WALLETS, faults: isLong ? 750 : 75 },
    { name: 'keys only', requestMix: KEYED_REQUESTS, faults: isLong ? 750 : 75 },
  ])(
    `keep every promise (FW_SEED=${SEED}): $name`,
    async ({ name, requestMix, faults }) => {
      world = await FaultWorld.open(testServer());
      const limits = { seed: SEED, faults, atMostMs: AT_MOST_MS };
      const result = await runFaults(world, { ...limits, requestMix, faultMix: EVERYTHING });
      console.info(`FW_SEED=${SEED}, ${name}: ${summaryOf(world, result)}`);
      expect(result.violations.slice(0, 5)).toEqual([]);
      expect(result.faults).toBeGreaterThanOrEqual(isLong ? faults : 20);
    },
    AT_MOST_MS + 60_000,
  );
});
