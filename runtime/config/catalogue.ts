import { resolve } from 'node:path';
import { access } from './access-keys.js';
import { http } from './http-keys.js';
import { boolean, integer, path, text } from './kinds.js';
import { relay } from './relay-keys.js';
import { converted, implied, required, type SectionKey, section } from './section.js';
import { sharding } from './sharding-keys.js';
import type { ExecutionDefaults, FwConfig, ProjectConfig } from './types.js';

type GeneratorConfig = NonNullable<FwConfig['generator']>;

const HOUR = 3_600_000;

const execution = section<ExecutionDefaults>({
  doc: 'Defaults of every execution.',
  keys: {
    timeoutMs: integer(1, HOUR, {
      main: true,
      default: 1_800,
      doc: 'Deadline of one execution over all its attempts, in milliseconds.',
    }),
    maximumAttempts: integer(1, 100, {
      default: 4,
      doc: 'Maximum number of attempts of one execution, including the first.',
    }),
    storeParams: boolean({
      default: true,
      doc: "Whether an action's parameters are stored in `eventlog.actions`, without the fields marked as secret.",
    }),
    keyRetentionMs: integer(60_000, 90 * 24 * HOUR, {
      default: 24 * HOUR,
      doc: 'How long an idempotency key is kept, in milliseconds.',
    }),
    rememberedModels: integer(0, 1_000_000, {
      default: 10_000,
      doc: 'Maximum committed models that the process remembers over all shards, so that an action need not read what it changes. 0: none.',
    }),
    slowMs: integer(0, HOUR, {
      default: 1_000,
      doc: 'An execution that takes longer is logged, with its attempts and where its time went, in milliseconds. 0: none.',
    }),
  },
});

const retention = section<FwConfig['retention']>({
  doc: 'How long the event log and the audit trail are kept.',
  keys: {
    keepDays: integer(1, 36_500, {
      main: true,
      doc: 'Minimum age before events, actions and dependent rows are deleted, in days. Default: nothing is deleted.',
    }),
  },
});

const generator = converted<GeneratorConfig, GeneratorConfig>({
  doc: 'What `fw-gen generate` reads and writes.',
  keys: {
    source: path('folder', { default: '.', doc: 'Folder of the sources that the generator reads.' }),
    output: path('folder', { main: true, required: true, doc: 'Folder of the emitted code.' }),
    migrations: path('folder', {
      main: true,
      required: true,
      doc: "Folder of the application's migrations.",
    }),
    templates: path('folder', {
      doc: 'Folder of templates that override those of `fw-gen`.',
    }),
    client: path('folder', {
      main: true,
      doc: 'Folder of a typed client for TypeScript. Default: none is emitted.',
    }),
    title: text(128, { doc: 'Title of the API document. Default: the namespace.' }),
    version: text(64, { default: '1.0.0', doc: 'Version of the API document.' }),
  },
  value: (raw, { context }) => ({ ...raw, source: resolve(context.baseDirectory, raw.source) }),
  raw: (config) => config,
});

/** The content of a file, apart from its path. */
type Settings = Omit<ProjectConfig, 'file'>;

/** `fw` */
export const fw: SectionKey<Settings> = section<Settings>({
  doc: 'The whole configuration.',
  keys: {
    namespace: text(128, {
      main: true,
      required: true,
      doc: 'Written to the `namespace` column of every outbox row.',
    }),
    migrateAtStart: boolean({
      main: true,
      default: true,
      doc: 'Whether a starting process migrates its shards. `false`: run `fw-gen migrate up` separately; each shard is verified before its first use.',
    }),
    sharding: { ...sharding, lenient: true },
    access,
    http,
    execution: implied(execution),
    retention: implied(retention),
    relay,
    generator,
  },
  check(raw, at) {
    const unused = raw.access?.clientCertificates === 'off' || raw.access === undefined;
    if (unused || raw.http?.tls?.clientAuthorities !== undefined) return;
    const message = 'client-certificates needs fw.http.tls.client-authorities';
    at.report('access', message, 'name the file with the authorities that sign the certificates of callers');
  },
});

/** The file itself: a map with the one key `fw`. */
export const root: SectionKey<{ readonly fw: Settings }> = section<{ readonly fw: Settings }>({
  doc: 'The configuration file.',
  keys: { fw: required(fw) },
});
