import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseConfig } from './load-config.js';
import { printConfig } from './print-config.js';
import { errorOf } from './test-support/configs.js';
import type { FwConfig } from './types.js';

const example = readFileSync(new URL('../relay/test-support/relay.config.yaml', import.meta.url), 'utf8');
const env = { WEBHOOK_SECRET: 'c2VjcmV0' };

function parsed(text: string): FwConfig {
  return parseConfig(text, { file: 'fw.config.yaml', env });
}

/** The configuration with the given sinks. */
function withSinks(lines: string): string {
  const rest = example.slice(example.indexOf('  namespace:'));
  return `fw:\n  relay:\n    sinks:\n${lines}${rest}`;
}

function mistakesOf(lines: string): string {
  return errorOf(() => parsed(withSinks(lines))).message;
}

test('sinks are read with their defaults', () => {
  const { relay } = parsed(example);
  expect(relay?.schemaBaseUrl).toBe('https://wallet.example');
  expect(relay?.sinks[0]).toMatchObject({
    name: 'orders',
    format: 'structured',
    models: ['Wallet'],
    events: [],
    startFrom: 'beginning',
    webhook: { url: 'https://orders.example/hooks/wallet' },
  });
  expect(relay?.sinks.slice(1).map(({ kafka, nats }) => kafka ?? nats)).toEqual([
    {
      brokers: ['kafka-1:9092', 'kafka-2:9092'],
      topic: 'wallet.{model}',
      tls: false,
      mechanism: 'scram-sha-512',
    },
    { servers: ['nats-1:4222'], subject: 'events.{model}.{event}', tls: false },
  ]);
});

test('the printed configuration contains no secret and can be parsed again', () => {
  const config = parsed(example);
  const printed = printConfig(config);
  expect(printed).not.toContain(env.WEBHOOK_SECRET);
  const again = parsed(printed);
  expect(again.relay?.sinks.map(({ name }) => name)).toEqual(['orders', 'audit', 'search']);
});

test.each([
  'nats: { servers: ["nats://app:hidden@nats-1:4222"] }',
  'kafka: { brokers: ["app:hidden@kafka-1:9092"] }',
])('credentials in an address are refused, and not repeated (%s)', (sink) => {
  const message = mistakesOf(`      - { name: a, ${sink} }\n`);
  expect(message).toContain('[0]: must not contain credentials (use the keys username and password)');
  expect(message).not.toContain('hidden');
});

test('the printed configuration shows only the origins of webhooks', () => {
  const url = 'https://hooks.example:8443/services/T0/secret-path?key=secret-key';
  const printed = printConfig(
    parsed(withSinks(`      - { name: a, webhook: { url: "${url}", secret: "${'x'.repeat(40)}" } }\n`)),
  );
  expect(printed).toContain('"url": "https://hooks.example:8443/***"');
  expect(printed).not.toContain('secret-');
});

test('a sink has one receiver', () => {
  expect(mistakesOf('      - { name: a }\n')).toContain(
    'a sink has one of webhook, nats and kafka, found none',
  );
  const both = '      - { name: a, nats: { servers: [n] }, kafka: { brokers: [k] } }\n';
  expect(mistakesOf(both)).toContain('found nats and kafka');
});

test('names are valid and unique', () => {
  const named = (name: string): string => `      - { name: "${name}", kafka: { brokers: [k] } }\n`;
  expect(mistakesOf(named('a b'))).toContain('must be letters, digits, ., _ and -');
  expect(mistakesOf(named('a') + named('a'))).toContain(
    'sinks[1].name: this sink name is already used by fw.relay.sinks[0].name',
  );
});

test.each([
  ['webhook: { url: /hook, secret: x }', 'must be an absolute URL'],
  ['webhook: { url: "ftp://a.example", secret: x }', 'must be an absolute URL'],
  ['webhook: { url: "https://me:s3cret@a.example", secret: x }', 'must have no user name and no password'],
  ['kafka: { brokers: [k], topic: "orders {model}" }', 'must be letters, digits, ., _ and -'],
  ['kafka: { brokers: [k], topic: "orders.{modell}" }', 'placeholders are {model} and {event}'],
  ['kafka: { brokers: [k], password: x }', 'needs a user name'],
  ['kafka: { brokers: [k], username: me }', 'needs a password'],
  ['nats: { servers: [n], subject: "events.>" }', 'must be words separated by dots, without wildcards'],
  ['nats: { servers: [n], subject: "events..{model}" }', 'must be words separated by dots'],
  ['nats: { servers: [n], username: me, password: x, token: t }', 'cannot be combined with a user name'],
])('a receiver that could not work is refused: %s', (receiver, mistake) => {
  const message = mistakesOf(`      - { name: a, ${receiver} }\n`);
  expect(message).toContain(mistake);
  expect(message).not.toContain('s3cret');
});
