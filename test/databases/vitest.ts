import { afterEach, describe, inject } from 'vitest';
import { type AdapterName, type DatabaseHarness, databaseHarness } from './databases.js';
import type { ServerAddress } from './server.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Set by test/global-setup.ts. */
    readonly postgresServer: ServerAddress;
  }
}

/**
 * Declares the same tests for each adapter, or for the one in FW_TEST_ADAPTER. The harness's databases are dropped after
 * each test.
 */
export function describeOnEachAdapter(name: string, declare: (harness: DatabaseHarness) => void): void {
  const { FW_TEST_ADAPTER: only } = process.env;
  for (const adapter of ['postgresql', 'pglite'] as const)
    if (only === undefined || only === adapter) describeOn(adapter, name, declare);
}

/** Declares tests for one adapter, for features that the other one lacks. */
export function describeOn(
  adapter: AdapterName,
  name: string,
  declare: (harness: DatabaseHarness) => void,
): void {
  describe(`${name} (${adapter})`, () => {
    const harness = databaseHarness(adapter, testServer());
    afterEach(() => harness.cleanUp());
    declare(harness);
  });
}

/** The server that all tests of this run share. */
export function testServer(): ServerAddress {
  return inject('postgresServer');
}
