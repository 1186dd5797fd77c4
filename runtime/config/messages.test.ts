// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like this in YAML.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { ConfigurationError, formatProblem } from './configuration-error.js';
import { ONE_SHARD, parse } from './test-support/configs.js';

/** A valid file with every key. */
const FULL = readFileSync(new URL('golden/every-key.yaml', import.meta.url), 'utf8');
const EVERY_KEY: unknown = parseYaml(FULL);
/** Values with the same messages as others. */
const ALIKE = /groups\.1|sinks\.2|secondary-config\.|jobs-config\./;
const ENV = { EMPTY: '', WORD: 'hunter2', NUMBER: '3' };

/** Values in place of each value of the file. */
const VALUES: readonly unknown[] = [
  ...[null, '', ' a', 'a\nb', 'x'.repeat(5_000), -1, 10.5, true],
  ...[[], [1, 'a', 'a'], {}, '${WORD}'],
];

/** The problems of a file, one per line; `accepted` if there is none. */
function messagesOf(text: string): readonly string[] {
  try {
    parse(text, { file: 'f.yaml', env: ENV });
    return ['accepted'];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const lines = error.problems.map(formatProblem);
    expect(lines.join()).not.toMatch(/hunter2/i);
    return lines;
  }
}

type Path = readonly (string | number)[];

/** Paths of all values below a value. */
function pathsOf(value: unknown, path: Path = []): readonly Path[] {
  const entries = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
  return entries.flatMap(([key, child]) => [
    ...(Array.isArray(value) ? [] : [[...path, key]]),
    ...pathsOf(child, [...path, key]),
  ]);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** A copy in which the value at a path is replaced, or removed. */
function changed(value: unknown, [key, ...rest]: Path, replacement: unknown): unknown {
  if (key === undefined) return replacement;
  if (Array.isArray(value))
    return value.map((item, index) => (index === key ? changed(item, rest, replacement) : item));
  if (!isObject(value)) return value;
  return { ...value, [key]: changed(value[key], rest, replacement) };
}

/** The messages of each value, once for values with the same ones; those of an absent key are marked `-`. */
function messagesOfKey(path: Path): string {
  const byMessages = new Map<string, string[]>();
  for (const value of [...VALUES, undefined]) {
    const text = JSON.stringify(changed(EVERY_KEY, path, value));
    const messages = messagesOf(text)
      .map((line) => `    ${line.replace(/^f.yaml:1:\d+ /, '')}`)
      .join('\n');
    const shown = JSON.stringify(value)?.slice(0, 20) ?? '-';
    byMessages.set(messages, [...(byMessages.get(messages) ?? []), shown]);
  }
  const lines = [...byMessages].map(([messages, shown]) => `  ${shown.join(' ')}\n${messages}`);
  return `${path.join('.')}\n${lines.join('\n')}`;
}

/** Whole files, or parts of one. */
const FILES: readonly string[] = [
  '',
  '~',
  '---\n',
  '# only a comment',
  '- fw',
  'fw',
  'fw: ~',
  'fw: []',
  'sharding: {}',
  'fw: {}',
  'Fw: {}',
  ...['fw: {}\n---\nfw: {}', '%YAML 1.1\n---\nfw: {}', 'fw: &a [*a]', 'fw: *a', '? [a]\n: b', 'fw: @a'],
  'fw: "a',
  'fw: {',
  'fw: { a: ${A} }',
  'fw:\n\ta: 1',
  'fw: !tag a',
  'fw: "\\q"',
  'fw: a: b',
  'fw: &a &b c',
  'fw:\n  a: 1\n b: 2',
  'fw: [a, b',
  'fw: {a b\n  c: 1}',
  'fw: ]',
  `${'a'.repeat(1_100)}: b`,
  'fw: !!binary aa',
  '['.repeat(60),
  '- '.repeat(60),
  'a: &x {b: *x}',
  'fw: {a: 1, a: 2, A: 3}',
  'fw: `a',
  'fw: %a',
  'a: b: c',
  `${ONE_SHARD}fw: {}`,
  `${ONE_SHARD}  namespce: x\n`,
  `${ONE_SHARD}  "a\\u001bb": x\n`,
  `${ONE_SHARD}  x: 1\n`,
  `${ONE_SHARD}  access: { hosts: ", ," }\n`,
  `${ONE_SHARD}  http: { tls: { certificate: a, key: b, client-certificates: required } }\n`,
  ...[
    'x',
    'max-pool-size',
    'maximumPoolSize',
    'pool-size',
    'jdbc_url',
    'Password',
    '__proto__',
    'constructor',
  ].map((key) => `${ONE_SHARD}                ${key}: 1\n`),
  `${ONE_SHARD}              jobs-config: {}\n              jobsConfig: {}\n`,
  ONE_SHARD.replace('primary-config', 'primry-config'),
  ...['primry-config', 'jobs-config', 'jobs_config', 'a', 'Config', 'jobsconfig'].map(
    (key) => `${ONE_SHARD}              ${key}: {}\n`,
  ),
  ...['"10"', '.inf', '.nan', '0x10', '1e1', '99999999999999999999', '1001', 'ten', '~'].map((size) =>
    ONE_SHARD.replace('maximum-pool-size: 20', `maximum-pool-size: ${size}`),
  ),
  ...['1234567', '"a\\0b"', '@hunter2', '"hunter2', '!hunter2', '[hunter2]', '|hunter2'].map((password) =>
    ONE_SHARD.replace(/password: .*\n.*\n/, `password: ${password}\n`),
  ),
  ...['[fsync, fsync]', '[fsink]', 'fsync'].map(
    (value) => `${ONE_SHARD}                allow-unsafe: ${value}\n`,
  ),
];

/** The parts of a text between white space. */
const words = (text: string): readonly string[] => text.trim().split(/\s+/);

const URLS: readonly string[] = [
  ...words(`
    postgresql://db/w jdbc: jdbc:mysql://db/w jdbc:postgres://db/w jdbc:HUNTER2://db/w
    jdbc:postgresql://db:5432?sslmode=require jdbc:postgresql://db/%ff jdbc:postgresql://db:abc/w
    jdbc:postgresql://db:-1/w jdbc:postgresql://a..b/w jdbc:pglite:data jdbc:postgresql:w jdbc:postgresql:///w
    jdbc:postgresql://:1/w jdbc:postgresql://db jdbc:postgresql://db/ jdbc:postgresql://db/a/b
    jdbc:postgresql://db/%zz jdbc:postgresql://db/%00 jdbc:postgresql://db:0/w jdbc:postgresql://db:70000/w
    jdbc:postgresql://db:/w jdbc:postgresql://::1/w jdbc:postgresql://[::1/w jdbc:postgresql://[db]/w
    jdbc:postgresql://256.1.1.1/w jdbc:postgresql://-db/w jdbc:postgresql://dätabase/w jdbc:postgresql://a:1,b:2/w
    jdbc:postgresql://db/w#x jdbc:postgresql://u:p@db/w jdbc:postgresql://db/w?user=x jdbc:pglite jdbc:pglite:disk:a
    jdbc:pglite:file: jdbc:pglite:file://a jdbc:pglite:file:a?b jdbc:pglite:mem: jdbc:pglite:mem:a/b
    jdbc:postgresql://db:0/?ssl=true
  `),
  ...[`jdbc:postgresql://db/${'a'.repeat(64)}`, 'jdbc:postgresql://db/w\n', 'jdbc:postgresql://db/w x'],
  ...words(`
    sslmode=bogus sslmode=verify sslmode=prefer sslmode=allow sslmode=verify-ca sslmode sslmode= sslmode=%zz
    sslmode=require&sslmode=disable sslmod=require ApplicationName=x constructor=x ssl=true connectTimeout=1
    loginTimeout=1 socketTimeout=1 h!unter2=1 sslrootcert=ca.pem sslmode=require&sslrootcert=a
    sslmode=require&sslcert=a sslmode=verify-full&sslkey=a sslcert=a&sslkey=b
  `).map((query) => `jdbc:postgresql://db/w?${query}`),
  'jdbc:postgresql://db/w?',
];

const REFERENCES: readonly string[] = [
  ...words('${ ${} ${1A} ${A:b} ${A:hunter2} ${toString} ${__proto__} ${file:/does/not/exist}'),
  ...words('${A:-${B}} ${file:} ${file:/} ${A}${B} ${NUMBER'),
  'a${A b}',
];

const only = (lines: readonly string[]): string => lines.map((line) => `  ${line}`).join('\n');
const withUrl = (url: string): string =>
  ONE_SHARD.replace('jdbc:postgresql://localhost:5432/wallet_global', () => JSON.stringify(url));
const withPassword = (value: string): string => ONE_SHARD.replace('hunter2', () => JSON.stringify(value));

test('every message of a hostile configuration is the recorded one', async () => {
  expect(messagesOf(FULL)).toEqual(['accepted']);
  const sections = [
    ...pathsOf(EVERY_KEY)
      .filter((path) => !ALIKE.test(path.join('.')))
      .map(messagesOfKey),
    ...FILES.map((text) => `${JSON.stringify(text).slice(-60)}\n${only(messagesOf(text))}`),
    ...URLS.map((url) => `${JSON.stringify(url)}\n${only(messagesOf(withUrl(url)))}`),
    ...REFERENCES.map((text) => `${JSON.stringify(text)}\n${only(messagesOf(withPassword(text)))}`),
  ];
  await expect(`${sections.join('\n')}\n`).toMatchFileSnapshot('golden/messages.txt');
});
