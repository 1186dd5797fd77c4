import { afterEach, describe, expect, it } from 'vitest';
import { testServer } from '../../runtime/testing/databases-vitest.js';
import { runFaults } from './fault-run.js';
import { FaultWorld } from './fault-world.js';
import { summaryOf } from './summary.js';

/** `vitest run --mode proof`: the long form. */
const LONG = process.env['MODE'] === 'proof';
const FAULTS = LONG ? 1_500 : 200;
const AT_MOST_MS = LONG ? 600_000 : 30_000;
const SEED = Number(process.env['FW_SEED'] ?? Math.floor(Math.random() * 1_000_000));

let world: FaultWorld;
afterEach(() => world?.close());

describe('Executions over connections that break', () => {
  it(
    `keep every promise (FW_SEED=${SEED})`,
    async () => {
      world = await FaultWorld.open(testServer());
      const result = await runFaults(world, { seed: SEED, faults: FAULTS, atMostMs: AT_MOST_MS });
      console.info(`FW_SEED=${SEED}: ${summaryOf(world, result)}`);
      expect(result.violations.slice(0, 5)).toEqual([]);
      expect(result.faults).toBeGreaterThanOrEqual(LONG ? 1_000 : 50);
    },
    AT_MOST_MS + 60_000,
  );
});
