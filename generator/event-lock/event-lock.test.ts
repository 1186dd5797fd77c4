import { beforeEach, describe, expect, test } from 'vitest';
import { projectPerTest } from '../test-support/projects.js';

const LOCK = 'src/migrations/events.lock';
const EVENTS = 'src/events/order-events.ts';
const project = projectPerTest();
const { generate } = project;

beforeEach(async () => {
  expect((await generate()).code).toBe(0);
});

/** Adds a field after `total`. */
function addField(text: string): void {
  project.write(
    EVENTS,
    project.read(EVENTS).replace('readonly total: Decimal;', `readonly total: Decimal;\n  ${text}`),
  );
}

function versions(): readonly string[] {
  return Object.keys((JSON.parse(project.read(LOCK)) as { readonly events: object }).events);
}

describe('the lock of events', () => {
  test('adds an optional field, and is stale before', async () => {
    addField('readonly note?: string;');
    const check = await generate('--check');
    expect(check.code).toBe(1);
    expect(check.info).toContain(LOCK);
    expect(check.info).toContain('src/events/order-events.ts:9:14');
    expect((await generate()).code).toBe(0);
    expect(project.read(LOCK)).toContain('"note":{"type":"string"}');
    expect((await generate('--check')).code).toBe(0);
  });

  test('refuses a breaking change, with and without --check, and writes nothing', async () => {
    const before = { ...project.emitted() };
    addField('readonly note!: string;');
    for (const flags of [['--check'], [], ['--force']]) {
      const { code, error } = await generate(...flags);
      expect([code, error]).toEqual([2, expect.stringContaining('order-events.ts:11:3 FWGEN048 Version 2')]);
    }
    expect(project.emitted()).toEqual(before);
  });

  test('accepts it as a new version with an upcaster, and keeps the old one', async () => {
    addField('readonly note!: string;');
    project.write(EVENTS, project.read(EVENTS).replace('@version 2', '@version 3'));
    expect((await generate()).error).toContain('FWGEN049');
    const more = "[(payload) => payload, (payload) => ({ ...payload, note: '' })";
    project.write(EVENTS, project.read(EVENTS).replace(/\[\(\{ total \}\) => \(\{.*?\}\)/, more));
    expect((await generate()).error).toBe('');
    expect(versions()).toEqual(['OrderPlacedEvent@2', 'OrderPlacedEvent@3']);
  });

  test('refuses a renamed event, also after unchanged runs, until it keeps its name or the lock gives it up', async () => {
    const [lock, events] = [project.read(LOCK), project.read(EVENTS)];
    const renamed = events.replaceAll('OrderPlacedEvent', 'OrderMadeEvent');
    project.write(EVENTS, renamed);
    for (const flags of [['--check'], []]) {
      const { code, error } = await generate(...flags);
      expect([code, error]).toEqual([2, expect.stringContaining("@FwEvent({ name: 'OrderPlacedEvent' })")]);
    }
    project.write(
      EVENTS,
      renamed.replace('export class', "@FwEvent({ name: 'OrderPlacedEvent' })\nexport class"),
    );
    project.write(EVENTS, project.read(EVENTS).replace('import {', 'import { FwEvent,'));
    expect((await generate()).code).toBe(0);
    expect(project.read(LOCK)).toBe(lock);
    project.write(EVENTS, renamed);
    project.write(LOCK, lock.replace(/^( {4}"OrderPlacedEvent.*)\}/m, '$1,"deprecated":true}'));
    expect((await generate()).code).toBe(0);
    expect(versions()).toEqual(['OrderMadeEvent@2', 'OrderPlacedEvent@2']);
  });

  test('is an input: a change of it is noticed, even after unchanged runs', async () => {
    const lock = project.read(LOCK);
    for (let round = 0; round < 3; round += 1) expect((await generate('--check')).code).toBe(0);
    project.write(LOCK, lock.replace('"format":"decimal"', '"format":"date-time"'));
    expect((await generate('--check')).code).toBe(2);
    project.remove(LOCK);
    expect((await generate('--check')).code).toBe(1);
    await generate();
    expect(project.read(LOCK)).toBe(lock);
  });

  test('stays current after changed line ends', async () => {
    const text = project.read(LOCK).replaceAll('\n', '\r\n');
    project.write(LOCK, text);
    expect((await generate()).code).toBe(0);
    expect(project.read(LOCK)).toBe(text);
  });

  test('is refused in another format', async () => {
    project.write(LOCK, JSON.stringify(JSON.parse(project.read(LOCK)), null, 4));
    const { code, error } = await generate();
    expect([code, error]).toEqual([2, expect.stringContaining(`${LOCK}:5:1 FWGEN050 This is not a line`)]);
    expect(error).toContain('Restore the file from version control.');
  });

  test('that cannot be read is an input mistake', async () => {
    project.remove(LOCK);
    project.write(`${LOCK}/file`, '');
    const { code, error } = await generate();
    expect([code, error]).toEqual([2, expect.stringContaining(`${LOCK} FWGEN038`)]);
  });

  test('resolves a merge of two branches, and reports where it cannot', async () => {
    const lock = project.read(LOCK);
    const [mine = ''] = /^ {4}"OrderPlacedEvent.*$/m.exec(lock) ?? [];
    const gone = (type: string): string =>
      `    "Gone@1": {"type":"object","properties":{"a":{"type":"${type}"}},"required":["a"],"deprecated":true}`;
    const merged = (ours: string, theirs: string): string =>
      lock.replace(mine, `<<<<<<< ours\n${ours}\n=======\n${theirs}\n>>>>>>> theirs`);
    project.write(LOCK, merged(mine, `${gone('string')},\n${mine}`));
    expect((await generate()).error).toBe('');
    expect(versions()).toEqual(['Gone@1', 'OrderPlacedEvent@2']);
    project.write(LOCK, merged(`${gone('string')},\n${mine}`, `${gone('number')},\n${mine}`));
    const { code, error } = await generate();
    expect([code, error]).toEqual([
      2,
      expect.stringContaining(`${LOCK}:9:1 FWGEN050 The file has two shapes`),
    ]);
    // Both branches have written the version that the source declares.
    const theirs = mine.replace(/"properties":\{/, '"properties":{"note":{"type":"string"},');
    expect(theirs).not.toBe(mine);
    project.write(LOCK, merged(mine, theirs));
    expect((await generate()).error).toContain(
      'events.lock has two shapes of this version, as after a merge',
    );
  });
});

test('the lock of params keeps an action whose params are no longer stored, because some still are', async () => {
  const [lock, file] = ['src/migrations/params.lock', 'src/actions/order-place-action.ts'];
  const source = project.read(file);
  project.write(file, source.replace('@FwAction', '/** @version 1 */\n@FwAction'));
  expect((await generate()).error).toBe('');
  const before = project.read(lock);
  expect(before).toContain('"order.place@1"');
  project.write(file, source);
  expect((await generate()).error).toBe('');
  expect(project.read(lock)).toBe(before);
});
