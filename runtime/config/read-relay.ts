import * as keys from './key-catalogue.js';
import type { Key } from './keys.js';
import type { SectionReader } from './section-reader.js';
import { hasCredentials } from './shown-url.js';
import type { NatsReceiver, RelayConfig, SinkConfig, SinkReceiver } from './types.js';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const PLACEHOLDERS = /\{(model|event)\}/g;
const TOPIC = /^[A-Za-z0-9._-]+$/;
const SUBJECT = /^[^\s.*>{}]+(\.[^\s.*>{}]+)*$/;

/** Reads `fw.relay`. Undefined if the file has none, or problems were reported. */
export function readRelay(fw: SectionReader): RelayConfig | undefined {
  const section = fw.section(keys.relay);
  if (section === undefined) return undefined;
  const schemaBaseUrl = readUrl(section, keys.schemaBaseUrl)?.replace(/\/+$/, '');
  const sinks = section.list(keys.sinks).flatMap((sink) => readSink(sink) ?? []);
  const names = new Set<string>();
  for (const [index, { name }] of sinks.entries()) {
    if (names.has(name)) {
      const place = { path: `${section.place.path}.sinks[${index}].name`, offset: section.place.offset };
      section.context.problems.add(place, { message: `two sinks are named ${name}` });
    }
    names.add(name);
  }
  return { schemaBaseUrl, sinks };
}

function readSink(section: SectionReader): SinkConfig | undefined {
  const name = section.text(keys.sinkName);
  if (name !== undefined && !NAME.test(name))
    report(section, keys.sinkName, 'must be letters, digits, ., _ and -');
  const settings = {
    format: section.choice(keys.sinkFormat),
    versions: section.choice(keys.sinkVersions),
    models: section.texts(keys.sinkModels),
    events: section.texts(keys.sinkEvents),
    onRejected: section.choice(keys.sinkOnRejected),
    startFrom: section.choice(keys.sinkStartFrom),
    batchSize: section.integer(keys.sinkBatchSize),
    inFlight: section.integer(keys.sinkInFlight),
    timeoutMs: section.integer(keys.sinkTimeoutMs),
    maximumAttempts: section.integer(keys.sinkMaximumAttempts),
    retryDelayMs: section.integer(keys.sinkRetryDelayMs),
  };
  const receivers = [keys.webhook, keys.nats, keys.kafka].filter((key) => section.locate(key) !== undefined);
  if (receivers.length !== 1) {
    const found = receivers.length === 0 ? 'none' : receivers.map((key) => key.name).join(' and ');
    section.context.problems.add(section.place, {
      message: `a sink has one of webhook, nats and kafka, found ${found}`,
    });
    return undefined;
  }
  const receiver = readWebhook(section) ?? readNats(section) ?? readKafka(section);
  return name === undefined || receiver === undefined ? undefined : { name, ...settings, receiver };
}

function readWebhook(sink: SectionReader): SinkReceiver | undefined {
  const section = sink.section(keys.webhook);
  if (section === undefined) return undefined;
  const url = readUrl(section, keys.webhookUrl);
  if (url !== undefined && hasCredentials(url))
    report(section, keys.webhookUrl, 'must have no user name and no password: requests are signed');
  const secret = section.secret(keys.webhookSecret);
  return url === undefined || secret === undefined ? undefined : { kind: 'webhook', url, secret };
}

function readNats(sink: SectionReader): SinkReceiver | undefined {
  const section = sink.section(keys.nats);
  if (section === undefined) return undefined;
  const subject = section.text(keys.natsSubject);
  if (!SUBJECT.test(filled(subject)))
    report(
      section,
      keys.natsSubject,
      'must be words separated by dots, without wildcards; placeholders are {model} and {event}',
    );
  const user = readUser(section, keys.natsUser, keys.natsPassword);
  const token = section.secret(keys.natsToken);
  if (token !== undefined && user.username !== undefined)
    report(section, keys.natsToken, 'cannot be combined with a user name');
  return {
    kind: 'nats',
    servers: section.texts(keys.natsServers),
    subject,
    ...user,
    token,
    tls: section.boolean(keys.natsTls),
  };
}

function readKafka(sink: SectionReader): SinkReceiver | undefined {
  const section = sink.section(keys.kafka);
  if (section === undefined) return undefined;
  const topic = section.text(keys.kafkaTopic);
  if (!TOPIC.test(filled(topic)))
    report(
      section,
      keys.kafkaTopic,
      'must be letters, digits, ., _ and -; placeholders are {model} and {event}',
    );
  return {
    kind: 'kafka',
    brokers: section.texts(keys.kafkaBrokers),
    topic,
    clientId: section.text(keys.kafkaClientId),
    tls: section.boolean(keys.kafkaTls),
    mechanism: section.choice(keys.kafkaMechanism),
    ...readUser(section, keys.kafkaUser, keys.kafkaPassword),
  };
}

/** The address template filled in for an example event. */
function filled(template: string): string {
  return template.replace(PLACEHOLDERS, 'x');
}

function readUser(
  section: SectionReader,
  user: typeof keys.natsUser,
  word: typeof keys.natsPassword,
): Pick<NatsReceiver, 'username' | 'password'> {
  const [username, password] = [section.text(user), section.secret(word)];
  if (username === undefined && password !== undefined) report(section, word, 'needs a user name');
  if (username !== undefined && password === undefined) report(section, user, 'needs a password');
  return { username, password };
}

/** An absolute `http` or `https` URL. */
function readUrl(section: SectionReader, key: typeof keys.webhookUrl): string | undefined {
  const text = section.text(key);
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return text;
  report(section, key, 'must be an absolute URL, https://...');
  return undefined;
}

function report(section: SectionReader, key: Key, message: string): void {
  section.context.problems.add(section.locate(key)?.place ?? section.place, { message });
}
