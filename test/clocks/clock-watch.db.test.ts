import { afterEach, expect, test, vi } from 'vitest';
import { application } from '../../examples/wallet/generated/application.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from '../../examples/wallet/shards.js';
import { type Application, openApplication } from '../../runtime/application.js';
import { useTime } from '../../runtime/concurrency/time.js';
import { until } from '../../runtime/events/test-support/ledger.js';
import { shardHealth } from '../../runtime/http/process/shard-health.js';
import type { Logger } from '../../runtime/observability/logger.js';
import { createMetrics } from '../../runtime/observability/prometheus.js';
import { describeOnEachAdapter } from '../databases/vitest.js';

/** Starting embedded databases takes long on a busy machine. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const HOUR_MS = 3_600_000;
const SILENT: Logger = { info: () => {}, warn: () => {}, error: () => {} };
let opened: Application | undefined;
let restore = (): void => {};

afterEach(async () => {
  restore();
  await opened?.close();
});

describeOnEachAdapter('A process whose clock is two hours ahead', (harness) => {
  test('is reported once per shard, in its readiness and in a metric', async () => {
    const sharding = await harness.makeTopology({
      shards: [GLOBAL_SHARD, MEXICO_SHARD],
      migrations: application.migrations,
    });
    restore = useTime({ dateMs: () => Date.now() + 2 * HOUR_MS });
    const warnings: string[] = [];
    const process = await openApplication(application, {
      namespace: 'test.clocks',
      sharding,
      collaborators: {},
      deliver: false,
      warn: (message) => warnings.push(message),
    });
    opened = process;
    const { databases, clockSkewsMs } = process;
    await until(() => clockSkewsMs().size === 2);
    const said =
      /^The clock of this process is 7\d{6} ms ahead of that of shard (\S+ \S+), more than 5000 ms/;
    expect(warnings.flatMap((message) => said.exec(message)?.[1] ?? []).sort()).toEqual(['(0, 0)', '(1, 0)']);
    const health = await shardHealth(databases, SILENT, clockSkewsMs)();
    const isTwoHours = expect.closeTo(2 * HOUR_MS, -5);
    expect(health).toMatchObject([{ clockSkewMs: isTwoHours }, { clockSkewMs: isTwoHours }]);
    const metrics = createMetrics({ statistics: () => [], clocks: clockSkewsMs });
    expect(await metrics.render()).toMatch(/fw_clock_skew_seconds\{shard="\(1, 0\)"\} 7[12]\d\d/);
  });
});
