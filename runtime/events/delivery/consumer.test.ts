import { expect, test } from 'vitest';
import { handlerOf } from '../test-support/ledger.js';
import { checkHandlers } from './consumer.js';
import type { HandlerDescriptor } from './handler-descriptor.js';

const handler = (facts: Partial<HandlerDescriptor>): HandlerDescriptor => ({
  ...handlerOf('Mirror', () => {}),
  ...facts,
});

test.each<readonly [string, readonly Partial<HandlerDescriptor>[]]>([
  ['Two handlers are named Mirror', [{}, { name: 'Other', aliases: ['Mirror'] }]],
  ['visible ASCII characters and no #, got "a#1"', [{ name: 'a#1' }]],
  ['reserved for sinks, got relay:a', [{ aliases: ['relay:a'] }]],
  ['Mirror has a projection, and must be transactional', [{ projection: ['rows'] }]],
  ['Mirror handles no event', [{ events: [] }]],
  ['The concurrency of Mirror must be a whole number of at least 1, got 0', [{ concurrency: 0 }]],
  [
    'The maximumAttempts of Mirror must be a whole number of at least 1, got NaN',
    [{ maximumAttempts: Number.NaN }],
  ],
  ['The retryDelayMs of Mirror must be a number of at least 0, got -1', [{ retryDelayMs: -1 }]],
])('Handlers are refused: %s', (message, handlers) => {
  expect(() => checkHandlers(handlers.map(handler))).toThrow(message);
});
