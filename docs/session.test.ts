import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixedPrincipal, type RunningServer } from 'fw-actions';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer } from '../examples/wallet/generated/server.js';
import { writeWalletConfig } from '../test/customer/wallet-config.js';
import { ROOT } from './pages.js';

/** One command of the session with the lines that it prints. */
interface Step {
  readonly command: string;
  readonly printed: readonly string[];
}

/** Stands for headers left out. */
const ELISION = '...';
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-([0-9a-f]{4})-[0-9a-f]{12}/g;
const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

const directory = mkdtempSync(join(tmpdir(), 'fw-session-'));
let server: RunningServer;

beforeAll(async () => {
  const config = writeWalletConfig(directory, {
    global: { jdbcUrl: 'jdbc:pglite:mem:session-global' },
    mexico: { jdbcUrl: 'jdbc:pglite:mem:session-mexico' },
  });
  const argv = ['--config', config, '--port', '0'];
  server = await startServer({
    authenticator: fixedPrincipal('wallet-demo'),
    argv,
    log: pino({ level: 'silent' }),
  });
}, 120_000);

afterAll(async () => {
  await server?.close();
  rmSync(directory, { recursive: true, force: true });
});

test('the session of the README goes as it is printed there', async () => {
  const realIds = new Map<string, string>();
  const steps = stepsOf(readFileSync(join(ROOT, 'README.md'), 'utf8'));
  expect(steps.length).toBeGreaterThan(3);
  for (const { command, printed } of steps) {
    const shown = printed.filter((line) => line !== ELISION);
    const answer = await answerTo(
      command.replaceAll(ID, (id) => realIds.get(id) ?? id),
      shown,
    );
    expect(missing(shown, answer)).toEqual([]);
    const ids = idsOf(answer.at(-1));
    idsOf(shown.at(-1)).forEach((id, index) => {
      realIds.set(id, ids[index] ?? id);
    });
  }
}, 120_000);

function stepsOf(readme: string): readonly Step[] {
  const sessions = [...readme.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
  const steps = sessions.flatMap((text) => text.split(/^\$ /m).slice(1));
  return steps.map((step) => {
    const [command = '', ...printed] = step.split('\n').filter((line) => line !== '');
    return { command, printed };
  });
}

/** What is only asked for is asked for again until it is there: a reader takes longer to type than a saga to end. */
async function answerTo(command: string, shown: readonly string[]): Promise<readonly string[]> {
  const giveUpAt = performance.now() + (command.includes('--json') ? 0 : 30_000);
  for (;;) {
    const answer = await runCurl(command);
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
async function runCurl(command: string): Promise<readonly string[]> {
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, text, word]) => text ?? word ?? '');
  const valuesOf = (flag: string) => words.filter((_, index) => words[index - 1] === flag);
  const path = words.find((word) => word.startsWith('localhost:8080'))?.replace('localhost:8080', '');
  const headers = new Headers(valuesOf('-H').map((line) => line.split(': ') as [string, string]));
  const [body] = valuesOf('--json');
  if (body !== undefined) headers.set('content-type', 'application/json');
  const response = await fetch(`${server.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers,
    body: body ?? null,
  });
  const head = [`HTTP/1.1 ${response.status} ${response.statusText}`];
  for (const [name, value] of response.headers) head.push(`${name}: ${value}`);
  return [...head, await response.text()];
}

/** Times differ from run to run, and ids but for the block that says their shard. */
function normalized(line: string): string {
  return line.replaceAll(ID, '<id of $1>').replaceAll(INSTANT, '<instant>');
}

function idsOf(line: string | undefined): readonly string[] {
  return line?.match(ID) ?? [];
}
