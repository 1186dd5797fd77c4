import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseConfig } from '../../config/load-config.js';
import { type Connector, connectorFiles } from './connector-files.js';

const wallet = readFileSync(
  new URL('../../../examples/wallet/fw.config.postgres.yaml', import.meta.url),
  'utf8',
);
const env = { DB_PASSWORD: 'not shown', POSTGRES_PASSWORD: 'not shown' };

function files(text: string): ReadonlyMap<string, string> {
  return connectorFiles(parseConfig(text, { file: 'fw.config.yaml', env }));
}

test('the files of the wallet are those in golden/', () => {
  const made = files(wallet);
  expect([...made.keys()]).toEqual(['README.md', '0-0.json', '0-0.sql', '1-0.json', '1-0.sql']);
  for (const [name, text] of made)
    expect(text, name).toBe(readFileSync(new URL(`golden/${name}`, import.meta.url), 'utf8'));
});

test('no file contains a password, and each shard has its own slot', () => {
  const made = [...files(wallet).values()].join('\n');
  expect(made).not.toContain('not shown');
  const slots = [...files(wallet)]
    .filter(([name]) => name.endsWith('.json'))
    .map(([, text]) => (JSON.parse(text) as Connector).config['slot.name']);
  expect(slots).toEqual(['fw_outbox_0_0', 'fw_outbox_1_0']);
});

test('an application with only embedded databases has none', () => {
  const embedded = wallet.replace(/jdbc-url: \S+/g, 'jdbc-url: jdbc:pglite:mem:a').replace('mem:a', 'mem:b');
  const bare = embedded.replace(/^ *(username|password|driver-class-name):.*\n/gm, '');
  expect(() => files(bare)).toThrow('Debezium cannot read the embedded database');
});
