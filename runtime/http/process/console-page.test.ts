import { expect, onTestFinished, test, vi } from 'vitest';
import type { Application } from '../../application.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { type ConsoleShard, consolePage, readConsole } from './console-page.js';
import { renderPage } from './operator-page.js';

const shard = ShardIdentifier.of(1, 0);
const consumer = { handler: 'Mailer', kind: 'live', parkedModels: 1, waitingFor: undefined } as const;

const answering: ConsoleShard = {
  shard: shard.toString(),
  name: 'mexico-1',
  state: {
    horizon: { transactionId: '7', ageMs: 90_000, holders: [] },
    ...{ dueActions: 2, failedActions: 3, actionsWaitFor: 'Remind', failovers: [] },
    journal: { open: 4, flagged: 5 },
    consumers: [
      { ...consumer, name: 'Mailer', holder: undefined, behind: 6, behindMs: 7_200_000, deadLetters: 1 },
    ],
    sagas: [{ saga: 'Payment', running: 8, parked: 9, oldestMs: 600_000 }],
    deadLetters: [
      {
        ...{ handler: 'Mailer', eventId: 'e-1', state: 'failed', eventType: 'Opened', attempts: 16 },
        ...{ modelName: 'Wallet', modelId: '01a1fdc9-f012-7695-8040-e90c211aaa1a', retrying: false },
        ...{ errorCode: 'FW_REFUSED', errorMessage: '<script>alert(1)</script>', parkedDate: new Date(0) },
      },
    ],
  },
};
const silent: ConsoleShard = {
  ...{ shard: '(1, 1)', name: 'mexico-2' },
  error: { code: 'FW_SHARD_UNAVAILABLE', message: 'its database cannot be reached' },
};

/** The texts of each row of a page. */
function rowsOf(page: string): readonly string[] {
  return [...page.matchAll(/<tr>(.*)<\/tr>/g)].map(([, row = '']) =>
    row.replace(/<\/t[hd]>/g, ' | ').replace(/<[^>]*>/g, ''),
  );
}

test('the page shows what waits on each shard', () => {
  expect(rowsOf(renderPage(consolePage([answering, silent])))).toEqual([
    'Shard | Name | State | Log held back for | Actions due | Actions failed | Plans to finish | Plans flagged | ',
    '(1, 0) | mexico-1 | scheduled actions wait: Remind | 90.0 s | 2 | 3 | 4 | 5 | ',
    '(1, 1) | mexico-2 | FW_SHARD_UNAVAILABLE: its database cannot be reached |  |  |  |  |  | ',
    'Name | Shard | Events behind | Oldest of them | Dead letters | Process | Waits for | ',
    'Mailer | (1, 0) | 6 | 2.0 h | 1 | none |  | ',
    'Saga | Shard | Running | Wait for an operator | Age of the oldest | ',
    'Payment | (1, 0) | 8 | 9 | 10 min | ',
    'Event | Model | Handler | Shard | State | Attempts | Error | Since | ',
    'Opened e-1 | Wallet 01a1fdc9-f012-7695-8040-e90c211aaa1a | Mailer | (1, 0) | failed | 16 | ' +
      'FW_REFUSED: &#60;script&#62;alert(1)&#60;/script&#62; | 1970-01-01T00:00:00.000Z | ',
  ]);
});

test('a dead letter leads to the life of its model, and the page says that there is none', () => {
  expect(renderPage(consolePage([answering]))).toContain(
    '<a href="operate/history/01a1fdc9-f012-7695-8040-e90c211aaa1a">',
  );
  expect(renderPage(consolePage([silent]))).toContain(
    '<p>Dead letters, at most 100 of each shard. None.</p>',
  );
});

test('a shard that never answers delays the others by two seconds at most', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const never = (): Promise<never> => new Promise(() => {});
  const application = {
    databases: {
      shards: () => [shard],
      memberConfig: () => ({ name: 'mexico-1' }),
      withheld: () => undefined,
    },
    events: { lag: never, deadLetters: { list: never } },
    journal: { survey: never },
  } as unknown as Application;
  const read = readConsole(application);
  await vi.advanceTimersByTimeAsync(2_500);
  expect(await read).toMatchObject([{ shard: '(1, 0)', error: { code: 'FW_DEADLINE_EXCEEDED' } }]);
});
