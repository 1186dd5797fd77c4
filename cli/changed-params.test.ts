import { cpSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fwGen, type Ran } from '../generator/test-support/fw-gen.js';
import { modelText, type TestProject, testProject } from '../generator/test-support/projects.js';

const PLACE = 'src/actions/order-place-action.ts';
const LIST = 'src/actions/order-list-action.ts';
const SWEEP = 'src/actions/order-sweep-action.ts';

/** A file that was just written may change again with the same timestamp, so only its text identifies it. */
const TICK_MS = 100;

let project: TestProject;

beforeEach(async () => {
  project = testProject('orders');
  // The first run writes migrations, which the second one reads.
  await generate();
  await generate();
});

afterEach(() => project.delete());

function generate(...flags: readonly string[]): Promise<Ran> {
  return fwGen('generate', '--config', project.config, ...flags);
}

function edit(file: string, from: string, to: string): void {
  const text = project.read(file);
  expect(text).toContain(from);
  project.write(file, text.replace(from, to));
}

/** Returns the result of a cold run for the same sources and migrations, which have the time of their creation. */
async function cold(): Promise<{
  readonly error: string;
  readonly emitted: Readonly<Record<string, string>>;
}> {
  const copy = testProject('orders');
  rmSync(copy.folder, { recursive: true });
  cpSync(project.folder, copy.folder, { recursive: true });
  copy.remove('src/generated');
  const { error } = await fwGen('generate', '--config', copy.config);
  const emitted = copy.emitted();
  copy.delete();
  return { error, emitted };
}

test.each([
  ['a constraint', PLACE, '@maxLength 40', '@maxLength 41'],
  ['a comment', PLACE, '/** @default WEB */', '/** Where it comes from. @default SHOP */'],
  ['one more', PLACE, '  /** @minimum 1 */', '  readonly gift?: boolean;\n  /** @minimum 1 */'],
  ['one less', PLACE, "  /** @default WEB */\n  readonly origin: Default<'WEB' | 'SHOP'> | null;\n", ''],
  ['a type', PLACE, 'readonly code?: string', 'readonly code: string'],
  ['a field of a field', PLACE, 'count: number | null', 'count: bigint'],
  ['what cannot be seen outside', PLACE, '@secret', '@secret @maxLength 8'],
  ['one in the query', LIST, 'urgent?: boolean', "urgent?: 'yes' | 'no'"],
  ['the first one', SWEEP, 'Action<void,', 'Action<{ readonly deep?: boolean },'],
])('changed params (%s) have the output of a cold run', async (_, file, from, to) => {
  edit(file, from, to);
  await sleep(TICK_MS);
  const ran = await generate();
  expect({ code: ran.code, error: ran.error }).toEqual({ code: 0, error: '' });
  const expected = await cold();
  expect({ error: '', emitted: project.emitted() }).toEqual(expected);
  expect((await generate('--check')).code).toBe(0);
});

test('invalid params have the diagnostics of a cold run', async () => {
  edit(PLACE, 'readonly code?: string', 'readonly code?: WeakMap<object, string>');
  const { code, error } = await generate();
  expect({ code, error }).toEqual({ code: 2, error: (await cold()).error });
});

test('a missing path parameter is reported as in a cold run', async () => {
  edit(LIST, 'readonly customerId: Id<Customer>; readonly urgent', 'readonly urgent');
  const { code, error } = await generate();
  expect({ code, error }).toEqual({ code: 2, error: (await cold()).error });
});

describe('in an unchanged file, when a base class changes the ids of its models,', () => {
  const BASE = 'src/models/keyed.ts';
  const baseOf = (id: string): string => `import { type ${id}, Model } from 'fw-actions';
export abstract class Keyed<T> extends Model<T, ${id}<T>, 'NEW'> {}
`;

  async function generateWith(base: string, param: string): Promise<void> {
    project.write(BASE, baseOf(base));
    project.write(
      'src/models/parcel.ts',
      `import { AutoBuilder } from 'fw-actions';
import { Keyed } from './keyed.js';
@AutoBuilder
export class Parcel extends Keyed<Parcel> {}
`,
    );
    project.write(
      'src/actions/parcel-send-action.ts',
      `import { Action, FwAction, type Principal, type ${param} } from 'fw-actions';
import type { Parcel } from '../models/parcel.js';
@FwAction
export class ParcelSendAction extends Action<{ readonly parcel: ${param}<Parcel> }, void> {
  protected perform(_principal: Principal): void {}
}
`,
    );
    expect((await generate()).error).toBe('');
    expect((await generate()).error).toBe('');
  }

  test('params are checked again', async () => {
    await generateWith('ShardedId', 'ShardedId');
    project.write(BASE, baseOf('Id'));
    const { code, error } = await generate();
    expect(error).toContain('FWGEN031');
    expect({ code, error }).toEqual({ code: 2, error: (await cold()).error });
  });

  test('params are printed again, and the new ones are stored', async () => {
    await generateWith('Id', 'Id');
    project.write(BASE, baseOf('ShardedId'));
    expect((await generate()).error).toBe('');
    expect((await generate('--check')).code).toBe(0);
    project.write('src/models/extra.ts', modelText('Extra'));
    expect((await generate()).error).toBe('');
    expect((await generate('--check')).code).toBe(0);
  });
});

test('two classes with the same name are distinguished', async () => {
  const twin = project
    .read(PLACE)
    .replace("name: 'order.place'", "name: 'order.place.again'")
    // First in the document, second in the application.
    .replace("'/orders'", "'/again'");
  const moved = twin.replaceAll("from '../", "from '../../").replace("from './", "from '../");
  project.write('src/actions/another/order-place-action.ts', moved);
  expect((await generate()).error).toBe('');
  for (const file of [PLACE, 'src/actions/another/order-place-action.ts']) {
    edit(file, '@maxLength 40', '@maxLength 39');
    expect((await generate()).code).toBe(0);
    expect(project.emitted()).toEqual((await cold()).emitted);
  }
});

test('a value that becomes short enough is printed on one line', async () => {
  project.remove('src/actions');
  const action = (params: string): string => `import { Action, FwAction, type Principal } from 'fw-actions';

@FwAction
export class T extends Action<{ ${params} }, void> {
  protected perform(_principal: Principal): void {}
}
`;
  project.write('src/tap.ts', action('readonly first: string; readonly second: string'));
  await generate();
  project.write('src/tap.ts', action(''));
  expect((await generate()).error).toBe('');
  expect(project.emitted()).toEqual((await cold()).emitted);
});

test('several successive changes, of one action after another and of both at once', async () => {
  for (const [place, list] of [
    ['41', 'urgent'],
    ['41', 'hurried'],
    ['42', 'hasty'],
  ] as const) {
    project.write(PLACE, project.read(PLACE).replace(/@maxLength \d+/, `@maxLength ${place}`));
    project.write(LIST, project.read(LIST).replace(/readonly \w+\?: boolean/, `readonly ${list}?: boolean`));
    expect((await generate()).code).toBe(0);
    expect(project.emitted()).toEqual((await cold()).emitted);
  }
});
