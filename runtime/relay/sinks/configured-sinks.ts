import type { RelayConfig, SinkConfig } from '../../config/types.js';
import { messageOf, ValidationError } from '../../errors.js';
import { DEFAULT_SINK_SETTINGS, type SinkDefinition } from '../sink-definition.js';
import { kafkaSink } from './kafka/kafka-sink.js';
import { requireKafka } from './kafka/load-kafka.js';
import { requireNats } from './nats/load-nats.js';
import { natsSink } from './nats/nats-sink.js';
import { type WebhookOptions, webhookSink } from './webhook/webhook-sink.js';

/** Requests per batch of a webhook, each of which waits for its own answer. */
const WEBHOOK_BATCH = 32;

/**
 * The sinks of a configuration.
 *
 * @throws PackageMissingError if the client of a broker is not installed
 * @throws ValidationError for an invalid webhook secret
 */
export function configuredSinks({ sinks }: RelayConfig): readonly SinkDefinition[] {
  return sinks.map(definitionOf);
}

const { timeoutMs } = DEFAULT_SINK_SETTINGS;

function definitionOf({ webhook, nats, kafka, ...settings }: SinkConfig): SinkDefinition {
  if (webhook !== undefined) {
    const { url, secret } = webhook;
    const sink = { url, secret: secret.reveal(), timeoutMs };
    checkWebhook(settings.name, sink);
    // The webhook sink limits the time of each request by itself.
    return {
      ...settings,
      batchSize: WEBHOOK_BATCH,
      timeoutMs: timeoutMs * (WEBHOOK_BATCH + 1),
      open: () => webhookSink(sink),
    };
  }
  if (nats !== undefined) {
    requireNats(`Sink ${settings.name}`);
    return { ...settings, open: () => natsSink({ ...nats, timeoutMs }) };
  }
  if (kafka === undefined) throw new ValidationError(`Sink ${settings.name} has no receiver`);
  requireKafka(`Sink ${settings.name}`);
  return { ...settings, open: () => kafkaSink({ ...kafka, timeoutMs }) };
}

/** Fails at start rather than at the first message. @throws ValidationError that names the sink */
function checkWebhook(name: string, options: WebhookOptions): void {
  try {
    webhookSink(options);
  } catch (error) {
    throw new ValidationError(`Sink ${name}: ${messageOf(error)}`, { cause: error });
  }
}
