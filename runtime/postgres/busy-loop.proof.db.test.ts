import { expect, it, onTestFinished } from 'vitest';
import { describeOn } from '../../test/databases/vitest.js';
import { openDatabases } from '../databases.js';
import { changedMembers, withPrimary } from '../sharding/test-support/changed-topology.js';

describeOn('postgresql', 'A process whose event loop is busy', (harness) => {
  it('opens connections to a healthy database, and reports it as reachable', async () => {
    const topology = await harness.makeTopology();
    const databases = openDatabases(changedMembers(topology, withPrimary({ connectTimeoutMs: 2_000 })));
    let isBusy = true;
    const work = (): void => {
      const until = performance.now() + 600;
      while (performance.now() < until);
      if (isBusy) setImmediate(work);
    };
    setImmediate(work);
    onTestFinished(async () => {
      isBusy = false;
      await databases.close(0);
    });
    const database = databases.database(databases.defaultShard);
    const query = (): Promise<unknown> =>
      database.query({ text: 'select 1', values: [] }, { timeoutMs: 60_000 });
    await expect(Promise.all(Array.from({ length: 4 }, query))).resolves.toHaveLength(4);
    expect(database.stats().circuit).toBe('closed');
  });
});
