import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type ConfigEnv,
  defineConfig,
  type TestProjectConfiguration,
  type ViteUserConfig,
  type ViteUserConfigFnObject,
} from 'vitest/config';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Proofs that need programs, installations or hours. Each is a script `proof:*` of its own, with its variable. */
const APART: readonly (readonly [variable: string, files: string])[] = [
  ['FW_PROOF_EVENTS', 'runtime/events/delivery/rates.proof.db.test.ts'],
  ['FW_PROOF_SECOND_MONTH', 'test/second-month/*.proof.db.test.ts'],
  ['FW_PROOF_SCAFFOLD', 'test/scaffold/scaffold.proof.db.test.ts'],
  ['FW_PROOF_MANAGERS', 'test/scaffold/package-managers.proof.db.test.ts'],
  ['FW_PROOF_BROKERS', 'test/relay/{debezium.proof.db,kafka.proof.db,nats.proof.db,sinks.proof}.test.ts'],
  ['FW_PROOF_POOLER', '**/{pgbouncer,pooler-mode}.proof.db.test.ts'],
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

/**
 * Tests that need a process of their own: fake timers must not meet real ones that wait already, an exporter must not get
 * the spans of earlier tests, a process keeps at most a hundred statement texts, a mocked module must not be loaded yet,
 * and a measured heap must hold nothing else. All others share workers, in which modules, migrated databases and compiled WebAssembly are loaded once.
 */
const ALONE = [
  'runtime/collections/garbage.test.ts',
  'runtime/{execution/execution,execution/shard-gateways,execution/contention/row-queues}.test.ts',
  'runtime/{http/process/shutdown,observability/logger,persistence/read/key-reader}.test.ts',
  'runtime/relay/sinks/kafka/kafka-sink.test.ts',
  'runtime/{persistence/write/statement-text,sharding/connection-pool,sharding/process-register}.test.ts',
  'test/{databases/template,traces/logs.db,traces/spans.db,traces/traces.db}.test.ts',
];

/**
 * Rooms that reach databases through others, which the test command runs on both adapters. It runs these on PostgreSQL;
 * on the embedded database they run with the proofs.
 */
const ABOVE_ADAPTERS = ['events', 'execution/cross-shard', 'locks', 'relay', 'retention', 'sagas'];

/** Their files with tests on both adapters. */
function filesOnBothAdapters(): readonly string[] {
  const files = ABOVE_ADAPTERS.flatMap((room) =>
    readdirSync(source(`./runtime/${room}`), { recursive: true, encoding: 'utf8' }).map(
      (name) => `runtime/${room}/${name}`,
    ),
  );
  const isTest = (file: string): boolean => file.endsWith('.db.test.ts') && !file.includes('.proof.');
  const isOnBoth = (file: string): boolean =>
    readFileSync(source(`./${file}`), 'utf8').includes('describeOnEachAdapter(');
  return files.filter((file) => isTest(file) && isOnBoth(file));
}

const FOLDERS = '{runtime,generator,cli,examples,test,docs}';
const PROOFS = `${FOLDERS}/**/*.proof{,.db}.test.ts`;
const EXCLUDED = ['**/node_modules/**', 'dist/**', 'generator/golden/**', 'test/second-month/releases/**'];

interface Part {
  readonly name: string;
  readonly include: readonly string[];
  readonly exclude?: readonly string[];
  /** Default: both. */
  readonly adapter?: 'postgresql' | 'pglite';
  /** Whether each file has a process of its own. Default false. */
  readonly isolate?: boolean;
}

function project({ name, include, exclude = [], adapter, isolate = false }: Part): TestProjectConfiguration {
  return {
    resolve: { alias },
    test: {
      name,
      include: [...include],
      exclude: [...EXCLUDED, ...exclude],
      isolate,
      env: adapter === undefined ? {} : { FW_TEST_ADAPTER: adapter },
      // A busy machine may take a minute to start an embedded database: only a test that hangs takes longer.
      testTimeout: 120_000,
      hookTimeout: 120_000,
      // A test that passes on its second try only is named at the end of the run: it has to be mended.
      retry: 1,
    },
  };
}

/** The test command, or with `--mode proof` the proofs: faults, kills, releases, clocks, matrices. */
function config({ mode }: ConfigEnv): ViteUserConfig {
  const isProof = mode === 'proof';
  const above = filesOnBothAdapters();
  const apart = APART.flatMap(([variable, files]) => (process.env[variable] === undefined ? [files] : []));
  return {
    test: {
      projects: isProof
        ? [
            project({ name: 'proof', include: [PROOFS], exclude: apart }),
            project({ name: 'embedded', include: above, adapter: 'pglite' }),
          ]
        : [
            project({
              name: 'shared',
              include: [`${FOLDERS}/**/*.test.ts`],
              exclude: [PROOFS, ...ALONE, ...above],
            }),
            project({ name: 'above', include: above, adapter: 'postgresql' }),
            project({ name: 'alone', include: ALONE, isolate: true }),
          ],
      globalSetup: ['test/global-setup.ts'],
      // On two cores: half of the time of a worker is spent waiting for servers and processes. Proofs start many more.
      maxWorkers: isProof ? 3 : 4,
      reporters: ['default', source('./test/flaky-reporter.ts')],
    },
  };
}

const exported: ViteUserConfigFnObject = defineConfig(config);

export default exported;
