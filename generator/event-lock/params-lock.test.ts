import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fwGen, type Ran } from '../test-support/fw-gen.js';
import { type TestProject, testProject } from '../test-support/projects.js';

const LOCK = 'src/migrations/params.lock';
const PLACE = 'src/actions/order-place-action.ts';
let project: TestProject;

beforeEach(async () => {
  project = testProject();
  edit('@FwAction', '/** @version 1 */\n@FwAction');
  expect((await generate()).error).toBe('');
  // The first run creates the files that the second one reads; afterwards, a change of params takes the fast path.
  expect((await generate()).code).toBe(0);
});

afterEach(() => project.delete());

function generate(...flags: readonly string[]): Promise<Ran> {
  return fwGen('generate', '--config', project.config, ...flags);
}

function edit(from: string, to: string): void {
  const text = project.read(PLACE);
  expect(text).toContain(from);
  project.write(PLACE, text.replace(from, to));
}

function versions(): readonly string[] {
  return Object.keys((JSON.parse(project.read(LOCK)) as { readonly params: object }).params);
}

describe('the lock of params', () => {
  test('contains exactly the stored params', () => {
    expect(versions()).toEqual(['order.place@1']);
  });

  test('adds an optional param, and is outdated before', async () => {
    edit('  /** @minimum 1 */', '  readonly gift?: boolean;\n  /** @minimum 1 */');
    const check = await generate('--check');
    expect([check.code, check.info]).toEqual([1, expect.stringContaining(LOCK)]);
    expect((await generate()).error).toBe('');
    expect(project.read(LOCK)).toContain('"gift":{"type":"boolean"}');
    expect((await generate('--check')).code).toBe(0);
  });

  test('refuses a breaking change with a hint, and accepts it as a new version', async () => {
    const before = { ...project.emitted() };
    edit('  /** @minimum 1 */', '  readonly gift: boolean;\n  /** @minimum 1 */');
    for (const flags of [['--check'], []]) {
      const { code, error } = await generate(...flags);
      expect(code).toBe(2);
      expect(error).toContain(
        'FWGEN048 Version 1 of the params of order.place is released, but its field gift is new and required',
      );
      expect(error).toContain('write @version 2 and an upcaster from version 1');
    }
    expect(project.emitted()).toEqual(before);
    edit('@version 1', '@version 2');
    expect((await generate()).error).toContain('FWGEN049');
    edit(
      'protected async perform(',
      'static readonly upcasters: OrderPlaceActionParamsUpcasters = [(old) => ({ ...old, gift: false })];\n\n  protected async perform(',
    );
    expect((await generate()).error).toBe('');
    expect(versions()).toEqual(['order.place@1', 'order.place@2']);
    expect(project.read('src/generated/versions.ts')).toContain(
      '(stored: OrderPlaceActionParamsV1) => OrderPlaceActionParamsV2,',
    );
  });

  test('keeps a removed action, because its params are still stored', async () => {
    edit('/** @version 1 */\n', '');
    expect((await generate()).error).toBe('');
    expect(versions()).toEqual(['order.place@1']);
  });
});
