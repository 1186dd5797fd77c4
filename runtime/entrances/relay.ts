/** The package's `./relay` entrance: sends events to brokers and webhooks. */

export { PackageMissingError } from '../errors.js';
export { Relay, type RelayOptions } from '../relay/relay.js';
export { ACCEPTED, type PublishOutcome, type RelayMessage, type RelaySink } from '../relay/relay-sink.js';
export type { RelayContext, SinkDefinition, SinkSettings, SinkStatistics } from '../relay/sink-definition.js';
export { configuredSinks } from '../relay/sinks/configured-sinks.js';
export { type KafkaOptions, kafkaSink } from '../relay/sinks/kafka/kafka-sink.js';
export { type NatsOptions, natsSink } from '../relay/sinks/nats/nats-sink.js';
export { type WebhookOptions, webhookSink } from '../relay/sinks/webhook/webhook-sink.js';
