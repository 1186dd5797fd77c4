import { expect, test } from 'vitest';
import { application } from '../../../examples/wallet/generated/application.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from '../../../examples/wallet/shards.js';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { assembleApplication } from '../../application.js';
import { loadMigrations } from '../../sagas/test-support/transfer-load.js';
import { initiate, openPurses, walletProcess } from '../../sagas/test-support/transfers.js';
import { until } from '../test-support/ledger.js';

describeOnEachAdapter('A transactional handler', (harness) => {
  test('has caught up after a page that ends with events that it does not select', async () => {
    const shards = [GLOBAL_SHARD, MEXICO_SHARD];
    const databases = await harness.makeShards({ shards, migrations: loadMigrations });
    const writer = walletProcess(databases, false);
    const { sources, destinations } = await openPurses(writer);
    const [source] = sources;
    const [destination] = destinations;
    if (source === undefined || destination === undefined) throw new Error('There are both');
    await initiate(writer, source, destination, 1);
    await openPurses(writer);
    const handled: string[] = [];
    const definition = {
      ...application,
      sagas: [],
      wireHandlers: () => [
        {
          name: 'Copy',
          events: application.events.filter(({ name }) => name === 'TransferInitiatedEvent'),
          transactional: true,
          create: () => ({ handle: ({ id }: { readonly id: string }) => void handled.push(id) }),
        },
      ],
    };
    const reader = assembleApplication(definition, databases, {
      namespace: 'test',
      collaborators: {},
      warn: () => {},
    });
    try {
      await until(async () => {
        const shown = (await reader.events.lag()).flatMap(({ consumers }) => consumers);
        const lag = shown.filter(({ handler }) => handler === 'Copy');
        return lag.length === shards.length && lag.every(({ behind }) => behind === 0);
      });
      expect(handled).toHaveLength(1);
    } finally {
      await Promise.all([reader.events.stop(0), writer.events.stop(0)]);
    }
  });
});
