import type { EventDescriptor } from '../domain/descriptor.js';
import { type Logger, SILENT, withFacts } from '../domain/logger.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { ValidationError } from '../errors.js';
import { type Consumer, SINK_PREFIX } from '../events/delivery/consumer.js';
import { byStoredName } from '../events/log/event-types.js';
import { type PublishCounts, PublishQueue } from './publish-queue.js';
import type { RelaySink } from './relay-sink.js';
import { SinkAttempts } from './sink-attempts.js';
import {
  DEFAULT_SINK_SETTINGS,
  type SinkDefinition,
  type SinkSettings,
  type SinkStatistics,
} from './sink-definition.js';

/** Models of the runtime itself, whose events are internal. */
const OWN_MODELS: readonly string[] = ['SagaRun'];
/** Maximum bytes of one batch. By default, brokers refuse requests above 1 MiB. */
const BATCH_BYTES = 800_000;
/** Large enough that a waiting model does not stop reading. A larger window outlives the heap's young generation. */
const LEAST_READ_AHEAD = 1_500;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Dependencies that all sinks of a process share. */
export interface RelayContext {
  /** Event classes of the application. Undefined: unknown to this process. */
  readonly events?: readonly EventDescriptor[] | undefined;
  readonly schemaBaseUrl?: string | undefined;
  /** Default: the machine's. */
  readonly random?: () => number;
  readonly warn: (message: string) => void;
  /** The logger of sinks. Default: their entries are discarded. */
  readonly log?: Logger | undefined;
}

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
  const sinks = definitions.map((definition) => new SinkOfProcess(definition, context));
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

interface OpenSink {
  readonly sink: RelaySink;
  readonly counts: PublishCounts;
}

/** One sink on all shards of a process. */
class SinkOfProcess {
  readonly #definition: SinkDefinition;
  readonly #settings: SinkSettings;
  readonly #context: RelayContext;
  readonly #open = new Map<ShardIdentifier, OpenSink>();

  constructor(definition: SinkDefinition, context: RelayContext) {
    this.#definition = definition;
    this.#settings = { ...DEFAULT_SINK_SETTINGS, ...definition };
    this.#context = context;
  }

  get consumer(): Consumer {
    const { aliases, models, events, startFrom, batchSize, inFlight } = this.#settings;
    // As many messages as may be in flight, plus one waiting batch.
    const atOnce = batchSize * (inFlight + 1);
    return {
      name: `${SINK_PREFIX}${this.#definition.name}`,
      aliases: aliases.map((alias) => `${SINK_PREFIX}${alias}`),
      startFrom,
      selection: {
        withoutActions: true,
        ...(events.length === 0 ? {} : { eventTypes: storedNames(events, this.#context) }),
        ...(models.length === 0 ? { exceptModels: OWN_MODELS } : { modelNames: models }),
      },
      concurrency: atOnce,
      readAhead: Math.max(atOnce, LEAST_READ_AHEAD),
      attempts: (shard) => this.#attempts(shard),
      left: async (shard) => {
        const open = this.#open.get(shard);
        this.#open.delete(shard);
        await open?.sink.close().catch(() => {});
      },
      close: async () => {
        const open = [...this.#open.values()];
        this.#open.clear();
        await Promise.allSettled(open.map(({ sink }) => sink.close()));
      },
    };
  }

  statistics(): readonly SinkStatistics[] {
    const { name } = this.#definition;
    return [...this.#open].map(([shard, { counts }]) => ({ sink: name, shard, ...counts }));
  }

  /** Opens the sink on a shard. Delivery on it may have ended before and start again. */
  #attempts(shard: ShardIdentifier): SinkAttempts {
    const { name, open } = this.#definition;
    const settings = this.#settings;
    const { schemaBaseUrl, random = Math.random, log = SILENT } = this.#context;
    const counts = { accepted: 0, deferred: 0, rejected: 0, accepting: true };
    const before = this.#open.get(shard);
    void before?.sink.close().catch(() => {});
    const sink = open(shard, withFacts(log, { sink: name, shard: shard.toString() }));
    const limits = { ...settings, batchBytes: BATCH_BYTES };
    const title = `Sink ${name} of shard ${shard}`;
    const queue = new PublishQueue({ name: title, sink, limits, random, counts });
    this.#open.set(shard, { sink, counts });
    const format = { shape: settings.format, shard, schemaBaseUrl };
    return new SinkAttempts({ queue, format, settings, random });
  }
}
