import { Counter, Gauge, type Registry } from 'prom-client';
import type { SinkStatistics } from '../relay/sink-definition.js';

/** Adds the counters of relay sinks in this process. Their lag is part of the handlers' metrics. */
export function addSinkMetrics(registry: Registry, statistics: () => readonly SinkStatistics[]): void {
  const labels = { labelNames: ['shard', 'sink'], registers: [registry] };
  const add = (
    Kind: typeof Gauge | typeof Counter,
    [name, help]: readonly [string, string],
    value: (statistics: SinkStatistics) => number,
  ): void => {
    const metric = new Kind({
      name,
      help,
      ...labels,
      collect: () => {
        metric.reset();
        for (const each of statistics())
          metric.inc({ shard: each.shard.toString(), sink: each.sink }, value(each));
      },
    });
  };
  add(
    Counter,
    ['fw_relay_messages_total', 'Messages that the receiver has accepted, including repetitions'],
    ({ accepted }) => accepted,
  );
  add(
    Counter,
    ['fw_relay_rejected_total', 'Messages that the receiver has rejected'],
    ({ rejected }) => rejected,
  );
  add(
    Counter,
    ['fw_relay_repeated_batches_total', 'Batches that were resent, in full or in part'],
    ({ deferred }) => deferred,
  );
  add(Gauge, ['fw_relay_receiver_down', '1 while the receiver accepts no messages'], ({ accepting }) =>
    Number(!accepting),
  );
}
