import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixedPrincipal, type RunningServer, type ServeOptions } from 'fw-actions/http';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer as startBooking } from '../examples/booking/generated/server.js';
import { startServer as startWallet } from '../examples/wallet/generated/server.js';
import { temporaryFolder } from '../runtime/config/test-support/temporary-folder.js';
import { ROOT } from './pages.js';

/** One command of the session with the lines that it prints. */
interface Step {
  readonly command: string;
  readonly printed: readonly string[];
}

/** Stands for headers left out. */
const ELISION = '...';
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-([0-9a-f]{4})-[0-9a-f]{12}/g;
const REQUEST_ID = /"requestId":"[^"]+"/g;
const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

interface Session {
  readonly page: string;
  readonly shards: readonly string[];
  readonly start: (options: ServeOptions) => Promise<RunningServer>;
}

const SESSIONS: readonly Session[] = [
  { page: 'docs/tour.md', shards: ['global', 'mexico'], start: startWallet },
  { page: 'examples/booking/README.md', shards: ['members', 'europe', 'americas'], start: startBooking },
];

const directory = temporaryFolder();

describe.each(SESSIONS)('The session of $page', ({ page, shards, start }) => {
  let server: RunningServer;

  beforeAll(async () => {
    const argv = ['--config', writeConfig(shards), '--port', '0'];
    server = await start({
      authenticator: fixedPrincipal('session', { role: 'operator' }),
      argv,
      log: pino({ level: 'silent' }),
    });
  }, 120_000);

  afterAll(() => server?.close());

  test('goes as it is printed there', async () => {
    const realIds = new Map<string, string>();
    const steps = stepsOf(readFileSync(join(ROOT, page), 'utf8'));
    expect(steps.length).toBeGreaterThan(3);
    for (const { command, printed } of steps) {
      const shown = printed.filter((line) => line !== ELISION);
      const withIds = command.replaceAll(ID, (id) => realIds.get(id) ?? id);
      const answer = await answerTo(server.url, withIds, shown);
      expect(missing(shown, answer)).toEqual([]);
      const ids = idsOf(answer.at(-1));
      idsOf(shown.at(-1)).forEach((id, index) => {
        realIds.set(id, ids[index] ?? id);
      });
    }
  }, 120_000);
});

/** A configuration with one embedded database in memory for each shard, in groups of one; the path of the file. */
function writeConfig(shards: readonly string[]): string {
  const file = join(directory, `${shards.join('-')}.yaml`);
  const groups = shards.flatMap((name, group) => [
    `      - group: ${group}`,
    `        name: ${name}`,
    '        members:',
    `          - { member: 0, name: ${name}-1, configs: { primary-config: { jdbc-url: "jdbc:pglite:mem:session-${name}" } } }`,
  ]);
  const head = [
    'fw:',
    '  namespace: session',
    '  execution: { timeout-ms: 30000 }', // a busy machine answers late
    '  sharding:',
    '    default-shard: { group: 0, member: 0 }',
    '    groups:',
  ];
  writeFileSync(file, `${[...head, ...groups].join('\n')}\n`);
  return file;
}

function stepsOf(readme: string): readonly Step[] {
  const sessions = [...readme.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
  const steps = sessions.flatMap((text) => text.split(/^\$ /m).slice(1));
  return steps.map((step) => {
    const [command = '', ...printed] = step.split('\n').filter((line) => line !== '');
    return { command, printed };
  });
}

/** What is only asked for is asked for again until it is there: a reader takes longer to type than a saga to end. */
async function answerTo(url: string, command: string, shown: readonly string[]): Promise<readonly string[]> {
  const giveUpAt = performance.now() + (command.includes('--json') ? 0 : 30_000);
  for (;;) {
    const answer = await runCurl(url, command);
    if (missing(shown, answer).length === 0 || performance.now() >= giveUpAt) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Lines that were not printed. */
function missing(shown: readonly string[], answer: readonly string[]): readonly string[] {
  const printed = answer.map(normalized);
  return shown.filter((line) => !printed.includes(normalized(line)));
}

/** Does what curl would do with these arguments; the lines that it would print. */
async function runCurl(url: string, command: string): Promise<readonly string[]> {
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, text, word]) => text ?? word ?? '');
  const valuesOf = (flag: string) => words.filter((_, index) => words[index - 1] === flag);
  const path = words.find((word) => word.startsWith('localhost:8080'))?.replace('localhost:8080', '');
  const headers = new Headers(valuesOf('-H').map((line) => line.split(': ') as [string, string]));
  const [body] = valuesOf('--json');
  if (body !== undefined) headers.set('content-type', 'application/json');
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers,
    body: body ?? null,
  });
  const head = [`HTTP/1.1 ${response.status} ${response.statusText}`];
  for (const [name, value] of response.headers) head.push(`${name}: ${value}`);
  return [...head, await response.text()];
}

/** Times and ids of requests differ from run to run, and other ids but for the block that says their shard. */
function normalized(line: string): string {
  return line
    .replaceAll(REQUEST_ID, '"requestId":"<id>"')
    .replaceAll(ID, '<id of $1>')
    .replaceAll(INSTANT, '<instant>');
}

function idsOf(line: string | undefined): readonly string[] {
  return line?.match(ID) ?? [];
}
