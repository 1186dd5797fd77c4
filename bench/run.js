/** The one command: starts a server, measures, checks, prints tables and writes results. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { measureAccess } from './lib/access.js';
import { measureEvents } from './lib/events.js';
import { measureExecute } from './lib/execute.js';
import { measureHttp } from './lib/http.js';
import { readOptions } from './lib/options.js';
import { measureProcesses } from './lib/processes.js';
import { measureRefusals } from './lib/refusals.js';
import { plain, progress } from './lib/report.js';
import { openServer } from './lib/server.js';
import { measureShards } from './lib/shards.js';
import { tables } from './lib/tables.js';

const measures = {
  execute: measureExecute,
  http: measureHttp,
  processes: measureProcesses,
  shards: measureShards,
  events: measureEvents,
  refusals: measureRefusals,
  access: measureAccess,
};

const options = readOptions();
const server = await openServer();
const results = { about: about(), options };
try {
  for (const part of options.parts) {
    progress(`-- ${part}`);
    results[part] = await measures[part](server, options);
    // A part that fails must not take the others with it.
    save(results);
  }
} finally {
  await server.close();
}
for (const { title, table } of tables(results)) process.stdout.write(`\n${title}\n${plain(table)}\n`);

function about() {
  const { settings } = server;
  const manifest = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8'));
  return {
    date: new Date().toISOString(),
    commit: commit(),
    node: process.version,
    cpu: cpus()[0]?.model,
    cores: availableParallelism(),
    postgres: settings,
    peers: manifest.dependencies,
  };
}

function commit() {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}

function save(value) {
  const folder = new URL('./results/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  const text = `${JSON.stringify(value, undefined, 1)}\n`;
  const name = options.output ?? `${value.about.date.replaceAll(/[:.]/g, '-')}.json`;
  for (const file of [name, 'latest.json']) writeFileSync(new URL(file, folder), text);
}
