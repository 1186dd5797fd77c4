import type { Key } from './key.js';
import { boolean, choice, secret, type TextCheck, text, texts } from './kinds.js';
import { converted, list, type Section, section } from './section.js';
import { hasCredentials, shownUrl } from './shown-url.js';
import type { RelayConfig, Secret, SinkConfig } from './types.js';

const LONGEST_NAME = 256;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const TOPIC = /^[A-Za-z0-9._-]+$/;
const SUBJECT = /^[^\s.*>{}]+(\.[^\s.*>{}]+)*$/;

const matching =
  (pattern: RegExp, message: string): TextCheck =>
  (text) =>
    pattern.test(text) ? undefined : { message };

/** Checks an address template, filled in for an example event. */
const template =
  (pattern: RegExp, message: string): TextCheck =>
  (text) =>
    pattern.test(text.replace(/\{(model|event)\}/g, 'x')) ? undefined : { message };

/** An absolute `http` or `https` URL. */
const absoluteUrl: TextCheck = (text) =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
    ? undefined
    : { message: 'must be an absolute URL, https://...' };

const webhookUrl: TextCheck = (url) => {
  const message = 'must have no user name and no password: requests are signed';
  return absoluteUrl(url) ?? (hasCredentials(url) ? { message } : undefined);
};

/** Addresses are printed, and repeated in logs. */
const address: TextCheck = (text) =>
  text.includes('@')
    ? { message: 'must not contain credentials', hint: 'use the keys username and password' }
    : undefined;

function checkUser(raw: { username?: string | undefined; password?: Secret | undefined }, at: Section): void {
  if (raw.username === undefined && raw.password !== undefined) at.report('password', 'needs a user name');
  if (raw.username !== undefined && raw.password === undefined) at.report('username', 'needs a password');
}

// Receivers.

const webhook = section<NonNullable<SinkConfig['webhook']>>({
  doc: 'The sink posts each message to a URL, signed by HMAC.',
  keys: {
    url: text(2_048, {
      required: true,
      check: webhookUrl,
      shown: shownUrl,
      doc: 'URL that each message is posted to, `https://...`. Use `http://` only for receivers on the same host or network.',
    }),
    secret: secret(512, {
      required: true,
      doc: 'Signing key: 24 to 64 bytes in base64, with or without the prefix `whsec_`.',
    }),
  },
});

const nats = section<NonNullable<SinkConfig['nats']>>({
  doc: 'The sink publishes to NATS JetStream. Needs the packages `@nats-io/jetstream` and `@nats-io/transport-node`.',
  keys: {
    servers: {
      ...texts({
        maximum: 32,
        maximumLength: LONGEST_NAME,
        check: address,
        doc: 'Addresses of the servers: `nats-1:4222`.',
      }),
      required: true,
    },
    subject: text(LONGEST_NAME, {
      default: 'events.{model}.{event}',
      check: template(
        SUBJECT,
        'must be words separated by dots, without wildcards; placeholders are {model} and {event}',
      ),
      doc: 'Subject of each message. A stream must capture it. `{model}` and `{event}` are replaced.',
    }),
    username: text(LONGEST_NAME, { doc: 'User name. Default: none.' }),
    password: secret(512, { doc: 'Password of the user.' }),
    token: secret(4_096, {
      doc: 'Token, if the servers authenticate by token instead of by user.',
    }),
    tls: boolean({
      default: false,
      doc: 'Whether TLS is required. If true, a server without TLS is refused.',
    }),
  },
  check(raw, at) {
    checkUser(raw, at);
    if (raw.token !== undefined && raw.username !== undefined)
      at.report('token', 'cannot be combined with a user name');
  },
});

const kafka = section<NonNullable<SinkConfig['kafka']>>({
  doc: 'The sink produces to Kafka with an idempotent producer, `acks=all` and the id of the model as key. Needs the package `@platformatic/kafka`.',
  keys: {
    brokers: {
      ...texts({
        maximum: 64,
        maximumLength: LONGEST_NAME,
        check: address,
        doc: 'Addresses of the bootstrap brokers: `kafka-1:9092`.',
      }),
      required: true,
    },
    topic: text(249, {
      default: 'outbox.event.{model}',
      check: template(TOPIC, 'must be letters, digits, ., _ and -; placeholders are {model} and {event}'),
      doc: 'Topic of each message. `{model}` and `{event}` are replaced.',
    }),
    tls: boolean({ default: false, doc: 'Whether connections use TLS.' }),
    mechanism: choice(['plain', 'scram-sha-256', 'scram-sha-512'], {
      default: 'scram-sha-512',
      doc: 'SASL mechanism.',
    }),
    username: text(LONGEST_NAME, { doc: 'User name. Default: none.' }),
    password: secret(512, { doc: 'Password of the user.' }),
  },
  check: checkUser,
});

// Sinks.

const sink = section<SinkConfig>({
  doc: 'One receiver.',
  unique: { name: 'sink name' },
  keys: {
    name: text(64, {
      required: true,
      check: matching(NAME, 'must be letters, digits, ., _ and -'),
      doc: 'Identifies the checkpoints of the sink (one per shard): if it changes, add the former one to `aliases`. Letters, digits, `.`, `_` and `-`.',
    }),
    aliases: texts({
      maximum: 16,
      maximumLength: 64,
      doc: 'Former names of the sink, at whose checkpoints it continues.',
    }),
    format: choice(['structured', 'binary'], {
      default: 'structured',
      doc: 'Mode of the messages, which are CloudEvents 1.0.',
    }),
    models: texts({
      maximum: 256,
      maximumLength: LONGEST_NAME,
      doc: 'Models whose events are sent. Default: all of the application.',
    }),
    events: texts({
      maximum: 1_000,
      maximumLength: LONGEST_NAME,
      doc: 'Events that are sent. Default: all of these models.',
    }),
    startFrom: choice(['beginning', 'now'], {
      default: 'beginning',
      doc: 'Where a sink without a checkpoint on a shard starts.',
    }),
    webhook,
    nats,
    kafka,
  },
  check(_, at) {
    const found = ['webhook', 'nats', 'kafka'].filter((name) => at.has(name)).join(' and ');
    if (found === '' || found.includes(' '))
      at.report('', `a sink has one of webhook, nats and kafka, found ${found || 'none'}`);
  },
});

/** `fw.relay` */
export const relay: Key<RelayConfig> = converted<RelayConfig, RelayConfig>({
  doc: 'Where `fw-gen relay` and servers with `relay: true` send events.',
  keys: {
    schemaBaseUrl: text(1_024, {
      check: absoluteUrl,
      doc: 'Absolute base URL of `/schemas/...`, for the CloudEvents attribute `dataschema`. Default: messages carry no `dataschema`.',
    }),
    sinks: list(sink, {
      minimum: 1,
      maximum: 32,
      doc: 'One entry per receiver, with one of `webhook`, `nats` and `kafka`.',
    }),
  },
  value: ({ schemaBaseUrl, sinks }) => ({ schemaBaseUrl: schemaBaseUrl?.replace(/\/+$/, ''), sinks }),
  raw: (relay) => relay,
});
