import { expect, it } from 'vitest';
import { errorFacts, jsonLog } from './log.js';

it('writes one line per entry, in which nothing acts upon a terminal', () => {
  const lines: string[] = [];
  const hostile = 'a\nb\u001b[31m\u009b31m\u202ec\u2028d\u0000';
  jsonLog((line) => void lines.push(line))({ level: 'error', message: 'request failed', path: hostile });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^[\x20-\x7e]+\n$/);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'error',
    path: hostile,
    time: expect.any(String),
  });
});

it('tells the causes of an error, as far as they are worth telling', () => {
  const error = new Error('outer', { cause: Object.assign(new Error('inner'), { code: 'ECONNREFUSED' }) });
  expect(errorFacts(error)).toMatchObject({
    error: 'outer',
    cause: { error: 'inner', code: 'ECONNREFUSED' },
  });
  const loop = new Error('loop');
  loop.cause = loop;
  expect(JSON.stringify(errorFacts(loop)).match(/"error":"loop"/g)).toHaveLength(4);
  expect(errorFacts('text')).toEqual({ error: 'text' });
});
