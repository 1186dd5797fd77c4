import { PassThrough, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { RefusedError, ShardUnavailableError, ValidationError } from '../../runtime/errors.js';
import { importReport } from './import.js';
import { ImportRun, type ImportSettings, linesOf, type RejectedLine } from './import-run.js';

interface Line {
  readonly wallet: string;
  readonly nr: number;
}

/** A run whose lines are executed by `execute`. */
function runOf(execute: (line: Line, key: string) => Promise<void>, settings: Partial<ImportSettings> = {}) {
  const rejected: RejectedLine[] = [];
  const run = new ImportRun({
    read: (text) => {
      const line = JSON.parse(text) as Line;
      if (line.wallet === undefined) throw new ValidationError('wallet is missing', { field: 'wallet' });
      return { model: line.wallet, execute: (key) => execute(line, key) };
    },
    keyOf: (_, line) => `import:${line}`,
    reject: (line) => rejected.push(line),
    signal: new AbortController().signal,
    ...{ concurrency: 8, patienceMs: 10_000 },
    ...settings,
  });
  return { run, rejected };
}

async function* written(...lines: readonly (Line | string)[]): AsyncIterable<string> {
  for (const line of lines) yield typeof line === 'string' ? line : JSON.stringify(line);
}

test('lines of one model run in their order, others at once, up to the maximum', async () => {
  const order: string[] = [];
  let [now, most] = [0, 0];
  const { run } = runOf(
    async ({ wallet, nr }) => {
      now += 1;
      most = Math.max(most, now);
      await sleep(5 - (nr % 5));
      order.push(`${wallet}${nr}`);
      now -= 1;
    },
    { concurrency: 3 },
  );
  const lines = Array.from({ length: 40 }, (_, nr) => ({ wallet: 'abcd'.charAt(nr % 4), nr }));
  await run.run(written(...lines));
  for (const wallet of 'abcd')
    expect(order.filter((each) => each.startsWith(wallet))).toEqual(
      lines.filter((line) => line.wallet === wallet).map(({ nr }) => `${wallet}${nr}`),
    );
  expect([most, run.read, run.done]).toEqual([3, 40, 40]);
});

test('a line whose shard is down is attempted again, under its key, before the next of its model', async () => {
  const attempts: string[] = [];
  const { run, rejected } = runOf(async ({ nr }, key) => {
    attempts.push(key);
    if (nr === 1 && attempts.length < 3) throw new ShardUnavailableError('(0, 0)', 'it is a test');
  });
  await run.run(written({ wallet: 'a', nr: 1 }, { wallet: 'a', nr: 2 }));
  expect([attempts, rejected, run.done, run.retrying]).toEqual([
    ['import:1', 'import:1', 'import:1', 'import:2'],
    [],
    2,
    0,
  ]);
});

test('a line without effect is reported with its number, one whose shard is down is left open, and the next runs', async () => {
  const { run, rejected } = runOf(
    async ({ nr }) => {
      if (nr === 2) throw new RefusedError('The wallet is closed');
      if (nr === 3) throw new ShardUnavailableError('(0, 0)', 'for long');
      if (nr === 4) throw 'a text';
    },
    { patienceMs: 0 },
  );
  const wallet = 'a';
  const texts = ['\uFEFF{"wallet":"b","nr":0}', '', 'no JSON', '{}'];
  await run.run(written(...texts, ...[2, 3, 4, 5].map((nr) => ({ wallet, nr }))));
  const shown = rejected.map(({ line, code, params }) => [line, code, params]).sort();
  expect(shown).toEqual([
    [3, 'JSON', 'no JSON'],
    [4, 'FW_VALIDATION', {}],
    [5, 'FW_REFUSED', { wallet, nr: 2 }],
    [7, 'UNKNOWN', { wallet, nr: 4 }],
  ]);
  expect([run.read, run.done, run.rejected, run.open]).toEqual([8, 2, 4, 1]);
});

test('lines that are left open are counted, explained, and end the command with 1', () => {
  const counts = { read: 5, done: 3, rejected: 0, open: 2, retrying: 0 };
  expect(importReport(counts, 'lines.errors', { isStopped: false, passedMs: 1_000 })).toEqual({
    json: { read: 5, done: 3, rejected: 0, open: 2, errors: undefined },
    lines: ['5 lines: 3 done, 0 without effect, 2 left open, 5 per second'],
    errors: [
      expect.stringMatching(/^2 lines left open: .* may have taken effect\. Run the same command again\.$/),
    ],
    isDrift: true,
  });
  const settled = importReport({ ...counts, open: 0 }, 'lines.errors', { isStopped: false, passedMs: 1_000 });
  expect(settled).toMatchObject({ errors: [], isDrift: false });
});

test('an end is taken after the lines that are under way', async () => {
  const end = new AbortController();
  const { run } = runOf(
    async ({ nr }) => {
      await sleep(5);
      if (nr === 4) end.abort();
    },
    { signal: end.signal, concurrency: 2 },
  );
  await run.run(written(...Array.from({ length: 100 }, (_, nr) => ({ wallet: String(nr), nr }))));
  expect(run.read).toBeLessThan(20);
  expect(run.done).toBe(run.read);
});

test('a line whose shard is down is not attempted again after the end', async () => {
  const end = new AbortController();
  const { run } = runOf(
    async () => {
      end.abort();
      throw new ShardUnavailableError('(0, 0)', 'for long');
    },
    { signal: end.signal },
  );
  await run.run(written({ wallet: 'a', nr: 1 }));
  expect([run.done, run.rejected, run.open]).toEqual([0, 0, 1]);
});

test('lines end with a line feed, not with a separator inside of a text', async () => {
  const { signal } = new AbortController();
  const text = '{"text":"one\u2028two\u2029three\u0085é"}\r\n\n{"nr":2}';
  const bytes = [...Buffer.from(text)].map((byte) => Buffer.of(byte));
  for (const chunks of [[Buffer.from(text)], bytes]) {
    const lines: string[] = [];
    for await (const line of linesOf(Readable.from(chunks, { objectMode: false }), signal)) lines.push(line);
    expect(lines).toEqual(text.split('\n'));
  }
});

test('an end does not wait for the next line of an input that stays open', async () => {
  const end = new AbortController();
  const input = new PassThrough();
  const { run } = runOf(async () => end.abort(), { signal: end.signal });
  input.write('{"wallet":"a","nr":1}\n');
  await run.run(linesOf(input, end.signal));
  expect([run.read, run.done]).toEqual([1, 1]);
});

test('an error of the reader is thrown after the lines that are under way', async () => {
  const { run } = runOf(() => sleep(20));
  async function* broken(): AsyncIterable<string> {
    yield '{"wallet":"a","nr":1}';
    throw new Error('The file has vanished');
  }
  await expect(run.run(broken())).rejects.toThrow('The file has vanished');
  expect(run.done).toBe(1);
});
