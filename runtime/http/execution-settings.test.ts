import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { ExecutionConfiguration } from '../action/execution-configuration.js';
import { executionSettings } from './execution-settings.js';
import type { RouteDescriptor } from './route.js';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

function settings(
  method: RouteDescriptor['method'] | 'HEAD',
  headers: IncomingHttpHeaders,
): ExecutionConfiguration | undefined {
  return executionSettings({ method }, headers, {}, () => {});
}

describe('The settings of a request', () => {
  test.each([{}, { traceparent }])('keep reads from staged states: %o', (headers) => {
    expect(settings('GET', headers)?.chaining).toBe(false);
    expect(settings('HEAD', headers)?.chaining).toBe(false);
  });

  test('leave writes to the defaults', () => {
    expect(settings('POST', {})).toBeUndefined();
    expect(settings('POST', { traceparent })).toMatchObject({ chaining: true, traceContext: traceparent });
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)('have the idempotency key of a %s', (method) => {
    expect(settings(method, { 'idempotency-key': 'mine' })).toMatchObject({ idempotencyKey: 'mine' });
  });

  // Only custom routes have a request's own method.
  test.each(['GET', 'HEAD'] as const)('have no key for a %s', (method) => {
    expect(settings(method, { 'idempotency-key': 'mine' })).not.toHaveProperty('idempotencyKey', 'mine');
  });
});
