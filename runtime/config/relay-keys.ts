import type {
  BooleanKey,
  ChoiceKey,
  DefaultedIntegerKey,
  DefaultedTextKey,
  ListKey,
  SecretKey,
  SectionKey,
  TextKey,
  TextsKey,
} from './keys.js';

const LONGEST_NAME = 256;

// Receivers.

export const webhookUrl: TextKey = {
  kind: 'text',
  name: 'url',
  required: true,
  maximumLength: 2_048,
  doc: 'URL that each message is posted to, `https://...`. Use `http://` only for receivers on the same host or network.',
};

export const webhookSecret: SecretKey = {
  kind: 'secret',
  name: 'secret',
  required: true,
  maximumLength: 512,
  doc: 'Signing key: 24 to 64 bytes in base64, with or without the prefix `whsec_`.',
};

export const webhook: SectionKey = {
  kind: 'section',
  name: 'webhook',
  doc: 'The sink posts each message to a URL, signed by HMAC.',
  keys: [webhookUrl, webhookSecret],
};

export const natsServers: TextsKey = {
  kind: 'texts',
  name: 'servers',
  required: true,
  maximum: 32,
  maximumLength: LONGEST_NAME,
  doc: 'Addresses of the servers: `nats-1:4222`.',
};

export const natsSubject: DefaultedTextKey = {
  kind: 'text',
  name: 'subject',
  maximumLength: LONGEST_NAME,
  default: 'events.{model}.{event}',
  doc: 'Subject of each message. A stream must capture it. `{model}` and `{event}` are replaced.',
};

export const natsUser: TextKey = {
  kind: 'text',
  name: 'username',
  maximumLength: LONGEST_NAME,
  doc: 'User name. Default: none.',
};

export const natsPassword: SecretKey = {
  kind: 'secret',
  name: 'password',
  maximumLength: 512,
  doc: 'Password of the user.',
};

export const natsToken: SecretKey = {
  kind: 'secret',
  name: 'token',
  maximumLength: 4_096,
  doc: 'Token, if the servers authenticate by token instead of by user.',
};

export const natsTls: BooleanKey = {
  kind: 'boolean',
  name: 'tls',
  default: false,
  doc: 'Whether TLS is required. If true, a server without TLS is refused.',
};

export const nats: SectionKey = {
  kind: 'section',
  name: 'nats',
  doc: 'The sink publishes to NATS JetStream. Needs the packages `@nats-io/jetstream` and `@nats-io/transport-node`.',
  keys: [natsServers, natsSubject, natsUser, natsPassword, natsToken, natsTls],
};

export const kafkaBrokers: TextsKey = {
  kind: 'texts',
  name: 'brokers',
  required: true,
  maximum: 64,
  maximumLength: LONGEST_NAME,
  doc: 'Addresses of the bootstrap brokers: `kafka-1:9092`.',
};

export const kafkaTopic: DefaultedTextKey = {
  kind: 'text',
  name: 'topic',
  maximumLength: 249,
  default: 'outbox.event.{model}',
  doc: 'Topic of each message. `{model}` and `{event}` are replaced.',
};

export const kafkaClientId: DefaultedTextKey = {
  kind: 'text',
  name: 'clientId',
  maximumLength: LONGEST_NAME,
  default: 'fw-actions',
  doc: 'Client id, as it appears in the logs and quotas of the brokers.',
};

export const kafkaTls: BooleanKey = {
  kind: 'boolean',
  name: 'tls',
  default: false,
  doc: 'Whether connections use TLS.',
};

export const kafkaMechanism: ChoiceKey<'plain' | 'scram-sha-256' | 'scram-sha-512'> = {
  kind: 'choice',
  name: 'mechanism',
  choices: ['plain', 'scram-sha-256', 'scram-sha-512'],
  default: 'scram-sha-512',
  doc: 'SASL mechanism.',
};

export const kafkaUser: TextKey = {
  kind: 'text',
  name: 'username',
  maximumLength: LONGEST_NAME,
  doc: 'User name. Default: none.',
};

export const kafkaPassword: SecretKey = {
  kind: 'secret',
  name: 'password',
  maximumLength: 512,
  doc: 'Password of the user.',
};

export const kafka: SectionKey = {
  kind: 'section',
  name: 'kafka',
  doc: 'The sink produces to Kafka with an idempotent producer, `acks=all` and the id of the model as key. Needs the package `@platformatic/kafka`.',
  keys: [kafkaBrokers, kafkaTopic, kafkaClientId, kafkaTls, kafkaMechanism, kafkaUser, kafkaPassword],
};

// Sinks.

export const sinkName: TextKey = {
  kind: 'text',
  name: 'name',
  required: true,
  maximumLength: 64,
  doc: 'Identifies the checkpoints of the sink (one per shard): never change it. Letters, digits, `.`, `_` and `-`.',
};

export const sinkFormat: ChoiceKey<'structured' | 'binary' | 'debezium'> = {
  kind: 'choice',
  name: 'format',
  choices: ['structured', 'binary', 'debezium'],
  default: 'structured',
  doc: 'Message format: CloudEvents 1.0 in structured or binary mode, or the format of the Debezium outbox event router.',
};

export const sinkVersions: ChoiceKey<'stored' | 'latest'> = {
  kind: 'choice',
  name: 'versions',
  choices: ['stored', 'latest'],
  default: 'stored',
  doc: 'Whether events are sent as stored or upcast to the latest version of their class.',
};

export const sinkModels: TextsKey = {
  kind: 'texts',
  name: 'models',
  maximum: 256,
  maximumLength: LONGEST_NAME,
  doc: 'Models whose events are sent. Default: all of the application.',
};

export const sinkEvents: TextsKey = {
  kind: 'texts',
  name: 'events',
  maximum: 1_000,
  maximumLength: LONGEST_NAME,
  doc: 'Events that are sent. Default: all of these models.',
};

export const sinkOnRejected: ChoiceKey<'park' | 'stop'> = {
  kind: 'choice',
  name: 'onRejected',
  choices: ['park', 'stop'],
  default: 'park',
  doc: 'Effect of the last failed attempt at a message that the receiver rejects. `park`: its event becomes a dead letter and holds back later events of its model. `stop`: the sink stops.',
};

export const sinkStartFrom: ChoiceKey<'beginning' | 'now'> = {
  kind: 'choice',
  name: 'startFrom',
  choices: ['beginning', 'now'],
  default: 'beginning',
  doc: 'Where a sink without a checkpoint on a shard starts.',
};

export const sinkBatchSize: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'batchSize',
  minimum: 1,
  maximum: 10_000,
  default: 500,
  doc: 'Maximum number of messages in a batch.',
};

export const sinkInFlight: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'inFlight',
  minimum: 1,
  maximum: 64,
  default: 2,
  doc: 'Maximum number of concurrent batches on each shard. Events of one model are never in two of them.',
};

export const sinkTimeoutMs: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'timeoutMs',
  minimum: 100,
  maximum: 600_000,
  default: 10_000,
  doc: 'A batch that gets no response within this time is sent again, in milliseconds.',
};

export const sinkMaximumAttempts: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'maximumAttempts',
  minimum: 1,
  maximum: 1_000,
  default: 5,
  doc: 'Maximum number of attempts at a message that the receiver rejects. Attempts while the receiver is unreachable do not count.',
};

export const sinkRetryDelayMs: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'retryDelayMs',
  minimum: 1,
  maximum: 30_000,
  default: 200,
  doc: 'Upper bound of the first pause between attempts, in milliseconds. It doubles with each attempt, up to 30,000.',
};

export const sinks: ListKey = {
  kind: 'list',
  name: 'sinks',
  required: true,
  minimum: 1,
  maximum: 32,
  doc: 'One entry per receiver, with one of `webhook`, `nats` and `kafka`.',
  keys: [
    sinkName,
    sinkFormat,
    sinkVersions,
    sinkModels,
    sinkEvents,
    sinkOnRejected,
    sinkStartFrom,
    sinkBatchSize,
    sinkInFlight,
    sinkTimeoutMs,
    sinkMaximumAttempts,
    sinkRetryDelayMs,
    webhook,
    nats,
    kafka,
  ],
};

export const schemaBaseUrl: TextKey = {
  kind: 'text',
  name: 'schemaBaseUrl',
  maximumLength: 1_024,
  doc: 'Absolute base URL of `/schemas/...`, for the CloudEvents attribute `dataschema`. Default: messages carry no `dataschema`.',
};

export const relay: SectionKey = {
  kind: 'section',
  name: 'relay',
  doc: 'Where `fw-gen relay` and servers with `relay: true` send events.',
  keys: [schemaBaseUrl, sinks],
};
