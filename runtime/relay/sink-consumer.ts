import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { ValidationError } from '../errors.js';
import { type Consumer, SINK_PREFIX } from '../events/delivery/consumer.js';
import { byStoredName } from '../events/log/event-types.js';
import { ShardSink } from './shard-sink.js';
import {
  DEFAULT_SINK_SETTINGS,
  type RelayContext,
  type SinkDefinition,
  type SinkStatistics,
} from './sink-definition.js';

/** Models of the runtime itself, whose events are internal. */
const OWN_MODELS: readonly string[] = ['SagaRun'];
/** Large enough that a waiting model does not stop reading. A larger window outlives the heap's young generation. */
const LEAST_READ_AHEAD = 1_500;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The consumers of sinks, and their counters. */
export interface SinkConsumers {
  readonly consumers: readonly Consumer[];
  readonly statistics: () => readonly SinkStatistics[];
}

/** @throws ValidationError if two sinks have the same name, or a name is invalid */
export function sinkConsumers(definitions: readonly SinkDefinition[], context: RelayContext): SinkConsumers {
  const names = new Set<string>();
  for (const name of definitions.flatMap(({ name, aliases = [] }) => [name, ...aliases])) {
    if (!NAME.test(name))
      throw new ValidationError(
        `A sink's name has 1 to 64 letters, digits, ., _ and -, got ${JSON.stringify(name)}`,
      );
    if (names.has(name)) throw new ValidationError(`Two names or aliases of sinks are ${name}`);
    names.add(name);
  }
  for (const definition of definitions) reportUnknownEvents(definition, context);
  const sinks = definitions.map((definition) => sinkOf(definition, context));
  return {
    consumers: sinks.map((sink) => sink.consumer),
    statistics: () => sinks.flatMap((sink) => sink.statistics()),
  };
}

/** Warns of unknown events in filters, which may be events of a former class that the log still contains. */
function reportUnknownEvents(
  { name, events: wanted = [] }: SinkDefinition,
  { events, warn }: RelayContext,
): void {
  if (events === undefined) return;
  const known = byStoredName(events, () => true);
  for (const event of wanted) {
    if (!known.has(event))
      warn(`Sink ${name} sends the event ${event}, which the application does not have. Check the spelling`);
  }
}

/** The names in a filter, with the earlier names of these events. */
function storedNames(wanted: readonly string[], { events = [] }: RelayContext): readonly string[] {
  const aliases = new Map(events.map((event) => [event.name, event.aliases ?? []]));
  return [...new Set(wanted.flatMap((name) => [name, ...(aliases.get(name) ?? [])]))];
}

/** One sink on all shards of a process. */
function sinkOf(definition: SinkDefinition, context: RelayContext) {
  const { name } = definition;
  const settings = { ...DEFAULT_SINK_SETTINGS, ...definition };
  const { aliases, models, events, startFrom, batchSize, inFlight } = settings;
  const open = new Map<ShardIdentifier, ShardSink>();
  // As many messages as may be in flight, plus one waiting batch.
  const atOnce = batchSize * (inFlight + 1);
  const close = async (shard: ShardIdentifier): Promise<void> => {
    const sink = open.get(shard);
    open.delete(shard);
    await sink?.close();
  };
  const consumer: Consumer = {
    name: `${SINK_PREFIX}${name}`,
    aliases: aliases.map((alias) => `${SINK_PREFIX}${alias}`),
    startFrom,
    selection: {
      withoutActions: true,
      ...(events.length === 0 ? {} : { eventTypes: storedNames(events, context) }),
      ...(models.length === 0 ? { exceptModels: OWN_MODELS } : { modelNames: models }),
    },
    concurrency: atOnce,
    readAhead: Math.max(atOnce, LEAST_READ_AHEAD),
    attempts: (shard) => {
      // Delivery on the shard may have ended before and start again.
      void close(shard);
      const sink = new ShardSink(settings, shard, context);
      open.set(shard, sink);
      return sink;
    },
    left: close,
    close: async () => {
      await Promise.all([...open.keys()].map(close));
    },
  };
  const statistics = () => [...open].map(([shard, { counts }]) => ({ sink: name, shard, ...counts }));
  return { consumer, statistics };
}
