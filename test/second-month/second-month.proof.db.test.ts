import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { ServerAddress } from '../databases/server.js';
import { dropDatabase } from '../databases/template.js';
import { testServer } from '../databases/vitest.js';
import { Load } from './load.js';
import { Project } from './project.js';
import { Service } from './service.js';

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

/** Number of all clients' requests between two steps. */
const REQUESTS = 150;
const name = `fw_second_month_${process.pid}`;
let address: ServerAddress;
let client: pg.Client;
let project: Project;
let services: readonly Service[] = [];
const load = new Load(() => services.map(({ url }) => url));

beforeAll(async () => {
  const server = testServer();
  await administer(server, `create database ${name}`);
  address = { ...server, database: name };
  client = await connected(address);
  project = await Project.make(address);
});

afterAll(async () => {
  await load.stop();
  await Promise.all(services.map((each) => each.stop()));
  await client?.end();
  project?.remove();
  await dropDatabase(testServer(), name);
});

async function connected({ host, port, user, password, database }: ServerAddress): Promise<pg.Client> {
  const made = new pg.Client({ host, port, user, password, database });
  await made.connect();
  return made;
}

async function administer(server: ServerAddress, sql: string): Promise<void> {
  const made = await connected(server);
  await made.query(sql);
  await made.end();
}

async function rows(sql: string): Promise<readonly (readonly unknown[])[]> {
  return (await client.query({ text: sql, rowMode: 'array' })).rows;
}

async function start(folder: string): Promise<Service> {
  const service = await Service.start(folder);
  services = [...services, service];
  return service;
}

/** Requests first go to other processes, as with a load balancer. */
async function stop(service: Service): Promise<void> {
  services = services.filter((each) => each !== service);
  expect(await service.stop()).toBe(0);
}

async function succeeds(ran: ReturnType<Project['fwGen']>): Promise<string> {
  const { code, text } = await ran;
  expect([code, code === 0 ? '' : text]).toEqual([0, '']);
  return text;
}

async function build(): Promise<void> {
  await succeeds(project.fwGen('migrate', 'diff', '--check'));
  await succeeds(project.fwGen('generate', '--check'));
  await succeeds(project.script('build'));
}

/** Waits until the clients have made progress, and checks that nothing has failed so far. */
async function goesOn(): Promise<void> {
  await load.goesOn(REQUESTS);
  expect(load.failures).toEqual([]);
}

/** Waits until there are no such rows, without a time limit of its own. */
async function noneOf(sql: string): Promise<void> {
  await vi.waitFor(async () => expect(await rows(sql)).toEqual([]), { timeout: 120_000, interval: 100 });
}

test('the second month of a service, from fw-gen init to the third release', async () => {
  // The first month.
  project.write(1);
  await succeeds(project.fwGen('generate'));
  await succeeds(project.script('test'));
  const first = await project.deploy('release-1');
  await succeeds(project.fwGen('migrate', 'up'));
  load.key = (await succeeds(project.fwGen('keys', 'create', '--principal', 'clients'))).trim();
  const [one, two] = [await start(first), await start(first)];
  load.start(4);
  await goesOn();

  // The second month: a required column, a renamed one, and new formats of stored data.
  project.write(2);
  const event = join(project.folder, 'src/events/note-written-event.ts');
  const versioned = readFileSync(event, 'utf8');
  writeFileSync(event, versioned.replace(' * @version 2\n', ''));
  const refused = await project.fwGen('generate');
  expect([refused.code, refused.text]).toEqual([2, expect.stringContaining('FWGEN048')]);
  writeFileSync(event, versioned);
  await succeeds(project.fwGen('generate'));
  const missing = await project.fwGen('migrate', 'diff', '--check');
  expect([missing.code, missing.text]).toEqual([1, expect.stringContaining('notes.language')]);
  await succeeds(project.fwGen('migrate', 'rename', 'Note.author', 'writer'));
  await succeeds(project.fwGen('migrate', 'diff', '--backfill', "notes.language='en'"));
  await succeeds(project.fwGen('generate'));
  await build();
  const second = await project.deploy('release-2');

  // Both releases serve.
  await succeeds(project.fwGen('migrate', 'up'));
  await goesOn();
  const [three, four] = [await start(second), await start(second)];
  await goesOn();
  expect(await rows('select id from notes where author is distinct from writer')).toEqual([]);
  const versions = await rows(
    "select distinct event_version::int from eventlog.events where event_type = 'NoteWrittenEvent' order by 1",
  );
  expect(versions).toEqual([[1], [2]]);
  await stop(one);
  await goesOn();
  await stop(two);

  // Only the second release runs the actions that the first one has scheduled.
  load.namesLanguage = true;
  await goesOn();
  const left = await rows(
    "select count(*)::int from eventlog.schedules where state = 'pending' and params_version = 1",
  );
  expect(Number(left[0]?.[0])).toBeGreaterThan(0);
  await rows("update eventlog.schedules set next_date = clock_timestamp() where state = 'pending'");
  await noneOf("select id from eventlog.schedules where params_version = 1 and state <> 'done'");

  // The third release drops the old column.
  await succeeds(project.fwGen('migrate', 'rename', 'Note.author', 'writer', '--finish'));
  await succeeds(project.fwGen('generate'));
  await build();
  const third = await project.deploy('release-3');
  await succeeds(project.fwGen('migrate', 'up'));
  await goesOn();
  const [five, six] = [await start(third), await start(third)];
  await stop(three);
  await stop(four);
  await goesOn();
  await load.stop();
  expect(load.failures).toEqual([]);

  // The stored data equals the answers to the clients.
  await rows("update eventlog.schedules set next_date = clock_timestamp() where state = 'pending'");
  await noneOf("select id from notes where state <> 'DONE' or words is null");
  const stored = await rows('select id::text, text, writer, language, likes::int from notes order by id');
  const remembered = load.notes
    .map(({ id, text, author, language = 'en', likes }) => [id, text, author, language, likes])
    .sort(([a], [b]) => String(a).localeCompare(String(b)));
  expect(stored).toEqual(remembered);
  expect(await rows("select id from notes where words <> cardinality(string_to_array(text, ' '))")).toEqual(
    [],
  );
  const ends = await rows('select reason, count(*)::int from notes group by reason order by reason');
  expect(ends.map(([reason]) => reason)).toEqual([
    'expired',
    'expired after -1 s',
    'expired after 0 s',
    'expired after 3600 s',
  ]);
  // A handler that is new in the second release has read the events of the first.
  await vi.waitFor(
    async () =>
      expect(await rows('select name, notes::int from writers order by name')).toEqual(
        await rows('select writer, count(*)::int from notes group by writer order by writer'),
      ),
    { timeout: 120_000, interval: 100 },
  );
  expect(
    await rows("select column_name from information_schema.columns where column_name = 'author'"),
  ).toEqual([]);
  await succeeds(project.fwGen('migrate', 'verify'));
  await Promise.all([five, six].map(stop));
});
