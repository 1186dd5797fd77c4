// Measures whole processes of other generators on comparable input, interleaved with a cold run of fw-gen, by CPU time.
// node generator/peers.js [--models 1000] [--rounds 3] [--only tsoa,prisma]
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { withClient } from '../lib/database.js';
import { openServer } from '../lib/server.js';
import { measure, measureNode, rowOf } from './measure-process.js';
import { graphqlSchema, prismaSchema, sqlSchema, writeControllers, writeProtos } from './peers/inputs.js';
import { writeSyntheticProject } from './synthetic-project.js';

const { values } = parseArgs({
  options: {
    models: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
  },
});
const models = Number(values.models);
const bench = fileURLToPath(new URL('..', import.meta.url));
const root = process.env.BENCH_BUILD ?? join(bench, '..');
const modules = join(bench, 'node_modules');
const workshop = mkdtempSync(join(tmpdir(), 'fw-peers-'));
const closing = [];

function folderOf(name) {
  const folder = join(workshop, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Writes the input of each generator. @returns a function that runs the generator once */
const SUBJECTS = {
  'fw-gen, cold': () => {
    const folder = folderOf('fw-gen');
    writeSyntheticProject(folder, models);
    const config = join(folder, 'fw.config.yaml');
    return () => measureNode([join(root, 'bin/fw-gen.js'), 'generate', '--timing', '--config', config]);
  },
  'ts-morph + Handlebars, plainly': () => {
    const folder = folderOf('plain');
    writeSyntheticProject(folder, models);
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(root, join(folder, 'node_modules/fw-actions'));
    return () => measureNode([join(bench, 'generator/peers/plain-ts-morph.js'), folder]);
  },
  'kysely-codegen': async () => {
    const server = await openServer();
    closing.push(() => server.close());
    const { host, port, user, password, database } = server.connection;
    await withClient(server.connection, async (client) => {
      for (const statement of sqlSchema(models)) await client.query(statement);
    });
    const url = `postgres://${user}:${password}@${host}:${port}/${database}`;
    const out = join(folderOf('kysely'), 'db.d.ts');
    const bin = join(modules, 'kysely-codegen/dist/cli/bin.js');
    return () => measureNode([bin, '--dialect', 'postgres', '--url', url, '--out-file', out]);
  },
  'prisma generate': () => {
    const folder = folderOf('prisma');
    writeFileSync(join(folder, 'schema.prisma'), prismaSchema(models));
    symlinkSync(modules, join(folder, 'node_modules'));
    const env = { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' };
    const bin = join(modules, 'prisma/build/index.js');
    return () => measureNode([bin, 'generate', '--schema', 'schema.prisma'], { cwd: folder, env });
  },
  'graphql-codegen': () => {
    const folder = folderOf('graphql');
    writeFileSync(join(folder, 'schema.graphql'), graphqlSchema(models));
    const args = [join(folder, 'schema.graphql'), join(folder, 'types.ts')];
    return () => measureNode([join(bench, 'generator/peers/graphql.js'), ...args]);
  },
  tsoa: () => {
    const folder = folderOf('tsoa');
    writeControllers(folder, models, modules);
    return () => measureNode([join(modules, '@tsoa/cli/dist/cli.js'), 'spec-and-routes'], { cwd: folder });
  },
  'buf + protoc-gen-es': () => {
    const folder = folderOf('proto');
    writeProtos(folder, models);
    const env = {
      PATH: `${join(modules, '.bin')}:${process.env.PATH}`,
      BUF_CACHE_DIR: folderOf('buf-cache'),
    };
    return () => measure([join(modules, '.bin/buf'), 'generate'], { cwd: folder, env });
  },
};

const wanted = values.only === '' ? undefined : values.only.split(',');
const runs = new Map();
const failures = [];
for (const [name, prepare] of Object.entries(SUBJECTS)) {
  if (wanted !== undefined && !wanted.some((each) => name.includes(each))) continue;
  try {
    const run = await prepare();
    // A first uncounted run fills the file cache.
    run();
    runs.set(name, { run, results: [] });
  } catch (error) {
    failures.push(`${name}: ${String(error.message).split('\n').slice(0, 4).join(' ')}`);
  }
}
for (let round = 0; round < Number(values.rounds); round += 1) {
  for (const { run, results } of runs.values()) results.push(run());
}
for (const close of closing) await close();
rmSync(workshop, { recursive: true, force: true });
const load = readFileSync('/proc/loadavg', 'utf8').split(' ')[0];
console.log(
  `${models} models, ${cpus().length} cores, load ${load}, Node.js ${process.version}, medians of ${values.rounds} interleaved rounds`,
);
console.table([...runs].map(([what, { results }]) => ({ what, ...rowOf(results) })));
for (const failure of failures) console.log(`Left out: ${failure}`);
