import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Run by `npm run proof:events`, `proof:second-month`, `proof:scaffold` and `proof:brokers`, never by the test command. */
const proofs = [
  ...(process.env['FW_PROOF_EVENTS'] === undefined ? ['runtime/events/delivery/rates.db.test.ts'] : []),
  ...(process.env['FW_PROOF_SECOND_MONTH'] === undefined ? ['test/second-month/*.test.ts'] : []),
  ...(process.env['FW_PROOF_SCAFFOLD'] === undefined ? ['test/scaffold/*.test.ts'] : []),
  ...(process.env['FW_PROOF_BROKERS'] === undefined
    ? ['test/relay/{brokers.db,debezium.db,sinks}.test.ts']
    : []),
];

/** Tests import the package by its public name and get the sources. */
const alias = {
  'fw-actions/client': source('./runtime/client/index.ts'),
  'fw-actions/codegen': source('./runtime/codegen/index.ts'),
  'fw-actions/config': source('./runtime/config/index.ts'),
  'fw-actions/consumer': source('./runtime/consumer/index.ts'),
  'fw-actions/http': source('./runtime/entrances/http.ts'),
  'fw-actions/operate': source('./runtime/entrances/operate.ts'),
  'fw-actions/relay': source('./runtime/entrances/relay.ts'),
  'fw-actions/testing': source('./runtime/testing/index.ts'),
  'fw-actions/generator': source('./generator/index.ts'),
  'fw-actions': source('./runtime/index.ts'),
};

const config: ViteUserConfig = defineConfig({
  resolve: { alias },
  test: {
    include: ['{runtime,generator,cli,examples,test,docs}/**/*.test.ts'],
    exclude: [
      '**/node_modules/**',
      'dist/**',
      'generator/golden/**',
      'test/second-month/releases/**',
      ...proofs,
    ],
    globalSetup: ['test/global-setup.ts'],
    // On two cores: a third of the time of a worker is spent waiting for servers and processes.
    maxWorkers: 3,
    // A busy machine may take a minute to start an embedded database: only a test that hangs takes longer.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A test that passes on its second try only is named at the end of the run: it has to be mended.
    retry: 1,
    reporters: ['default', source('./test/flaky-reporter.ts')],
  },
});

export default config;
