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
  doc: 'Where each message is posted, `https://...`. `http://` is for receivers on the same host or network.',
};

export const webhookSecret: SecretKey = {
  kind: 'secret',
  name: 'secret',
  required: true,
  maximumLength: 512,
  doc: 'Key of the signature: 24 to 64 bytes in base64, with or without `whsec_` in front.',
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
  doc: 'User of the servers. Default: none.',
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
  doc: 'Token, where the servers take one instead of a user.',
};

export const natsTls: BooleanKey = {
  kind: 'boolean',
  name: 'tls',
  default: false,
  doc: 'Whether connections that the servers do not encrypt are refused.',
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
  doc: 'Addresses of brokers to begin with: `kafka-1:9092`.',
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
  doc: 'Name of the client in the logs and quotas of the brokers.',
};

export const kafkaTls: BooleanKey = {
  kind: 'boolean',
  name: 'tls',
  default: false,
  doc: 'Whether connections are encrypted.',
};

export const kafkaMechanism: ChoiceKey<'plain' | 'scram-sha-256' | 'scram-sha-512'> = {
  kind: 'choice',
  name: 'mechanism',
  choices: ['plain', 'scram-sha-256', 'scram-sha-512'],
  default: 'scram-sha-512',
  doc: 'How the user is authenticated.',
};

export const kafkaUser: TextKey = {
  kind: 'text',
  name: 'username',
  maximumLength: LONGEST_NAME,
  doc: 'User of the brokers. Default: none.',
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
  doc: 'The sink produces to Kafka: idempotent, `acks=all`, the id of the model as key. Needs the package `@platformatic/kafka`.',
  keys: [kafkaBrokers, kafkaTopic, kafkaClientId, kafkaTls, kafkaMechanism, kafkaUser, kafkaPassword],
};

// Sinks.

export const sinkName: TextKey = {
  kind: 'text',
  name: 'name',
  required: true,
  maximumLength: 64,
  doc: 'Identity of the checkpoints, of which each shard has one: never change it. Letters, digits, `.`, `_` and `-`.',
};

export const sinkFormat: ChoiceKey<'structured' | 'binary' | 'debezium'> = {
  kind: 'choice',
  name: 'format',
  choices: ['structured', 'binary', 'debezium'],
  default: 'structured',
  doc: 'Shape of the messages: CloudEvents 1.0 in structured or binary mode, or that of the outbox event router of Debezium.',
};

export const sinkVersions: ChoiceKey<'stored' | 'latest'> = {
  kind: 'choice',
  name: 'versions',
  choices: ['stored', 'latest'],
  default: 'stored',
  doc: 'Whether events are sent as stored, or brought up to the latest version of their class.',
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
  doc: 'What happens after the last attempt at a message that the receiver rejects: its event becomes a dead letter and holds back later events of its model, or the sink stops.',
};

export const sinkStartFrom: ChoiceKey<'beginning' | 'now'> = {
  kind: 'choice',
  name: 'startFrom',
  choices: ['beginning', 'now'],
  default: 'beginning',
  doc: 'Where a sink that is new to a shard begins.',
};

export const sinkBatchSize: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'batchSize',
  minimum: 1,
  maximum: 10_000,
  default: 500,
  doc: 'Most messages that are sent at once.',
};

export const sinkInFlight: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'inFlight',
  minimum: 1,
  maximum: 64,
  default: 2,
  doc: 'Most batches under way at a time, on each shard. Never two with events of one model.',
};

export const sinkTimeoutMs: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'timeoutMs',
  minimum: 100,
  maximum: 600_000,
  default: 10_000,
  doc: 'A batch without an answer for so long is sent again, in milliseconds.',
};

export const sinkMaximumAttempts: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'maximumAttempts',
  minimum: 1,
  maximum: 1_000,
  default: 5,
  doc: 'Attempts at a message that the receiver rejects. While the receiver cannot be reached, attempts do not count.',
};

export const sinkRetryDelayMs: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'retryDelayMs',
  minimum: 1,
  maximum: 30_000,
  default: 200,
  doc: 'Longest first pause between attempts, in milliseconds; doubled with each one up to 30,000.',
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
  doc: 'Absolute URL in front of `/schemas/...`, for `dataschema` of CloudEvents. Default: messages name no schema.',
};

export const relay: SectionKey = {
  kind: 'section',
  name: 'relay',
  doc: 'Where `fw-gen relay` and servers with `relay: true` send events.',
  keys: [schemaBaseUrl, sinks],
};
