/**
 * A relay in its own process. Reports its rate and CPU time once it has sent `events` events, and runs until its parent
 * disconnects.
 */
import { built } from '../lib/product.js';

const POLL_MS = 5;

const { config: file, events } = JSON.parse(process.argv[2]);
const { Relay, configuredSinks, withDatabases } = await built('runtime/operations.js');
const { loadConfig } = await built('runtime/config/index.js');
const config = loadConfig(file);
const warn = (text) => process.stderr.write(`${text}\n`);

await withDatabases(config.sharding, warn, async (databases) => {
  const relay = new Relay({ databases, sinks: configuredSinks(config.relay), warn });
  relay.start();
  const accepted = () => relay.statistics().reduce((sum, sink) => sum + sink.accepted, 0);
  const left = new Promise((resolve) => process.once('disconnect', resolve));
  if (events > 0) {
    await until(() => accepted() > 0);
    const [before, cpu, startedMs] = [accepted(), process.cpuUsage(), performance.now()];
    await until(() => accepted() >= events);
    const [count, elapsedMs, { user, system }] = [
      accepted() - before,
      performance.now() - startedMs,
      process.cpuUsage(cpu),
    ];
    process.send?.({ perSecond: (count / elapsedMs) * 1_000, cpuMsPerThousand: (user + system) / count });
  }
  await left;
  await relay.stop();
});
process.exit(0);

async function until(condition) {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}
