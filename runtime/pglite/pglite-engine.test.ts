import { expect, test } from 'vitest';
import { PgliteEngine } from './pglite-engine.js';

test('an empty statement has an empty answer', async () => {
  const engine = await PgliteEngine.open(undefined);
  for (const text of ['', ' ; ', '-- nothing', '/* nothing\n */ -- at all\n']) {
    expect((await engine.run({ text, values: [] })).rows).toEqual([]);
  }
  expect(engine.broken).toBe(false);
  await engine.close();
});

test('a truncated answer is an error, and the engine is not used again', async () => {
  const engine = await PgliteEngine.open(undefined);
  const depth = 20_000;
  const tooDeep = { text: 'select $1::jsonb is null', values: ['['.repeat(depth) + ']'.repeat(depth)] };
  await expect(engine.run(tooDeep)).rejects.toMatchObject({ phase: 'in-flight' });
  expect(engine.broken).toBe(true);
  const one = engine.run({ text: 'select 1', values: [] });
  await expect(one).rejects.toMatchObject({ phase: 'not-sent', reason: 'unreachable' });
});
