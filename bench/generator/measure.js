// Measures whole processes of fw-gen on synthetic projects, interleaved, by CPU time and by the clock.
//   node generator/measure.js [--models 10,100,1000] [--rounds 5]
// Build the product first (`npm run build` at the root): what is measured is `bin/fw-gen.js`.
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { fileName, writeSyntheticProject } from './synthetic-project.js';

const { values } = parseArgs({
  options: { models: { type: 'string', default: '10,100,1000' }, rounds: { type: 'string', default: '5' } },
});
const root = fileURLToPath(new URL('../..', import.meta.url));
const bin = join(root, 'bin/fw-gen.js');
const rounds = Number(values.rounds);

/** Runs one process. @returns CPU seconds, seconds and megabytes at most */
function measure(args) {
  const { stderr, status, error } = spawnSync(
    '/usr/bin/time',
    ['-f', '%U %S %e %M', process.execPath, ...args],
    {
      encoding: 'utf8',
    },
  );
  if (error !== undefined) throw error;
  const [user, system, elapsed, kilobytes] = stderr.trim().split('\n').at(-1).split(' ').map(Number);
  if (status !== 0) throw new Error(`${args.join(' ')}\n${stderr}`);
  return { cpu: user + system, elapsed, megabytes: kilobytes / 1024 };
}

function median(list) {
  return [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
}

const workshop = mkdtempSync(join(tmpdir(), 'fw-bench-'));
const parser = createRequire(join(root, 'node_modules/ts-morph/')).resolve('@ts-morph/common');
const parse = join(workshop, 'parse.cjs');
writeFileSync(
  parse,
  `const { ts } = require(${JSON.stringify(parser)}); const fs = require('fs'); const path = require('path');
for (const name of fs.readdirSync(process.argv[2], { recursive: true })) {
  if (!name.endsWith('.ts') || /generated|migrations/.test(name)) continue;
  const file = path.join(process.argv[2], name);
  ts.createSourceFile(file, fs.readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
}`,
);
const read = join(workshop, 'read.cjs');
writeFileSync(
  read,
  `const fs = require('fs'); const path = require('path');
for (const name of fs.readdirSync(process.argv[2], { recursive: true })) {
  if (name.endsWith('.ts') && !/generated|migrations/.test(name)) fs.readFileSync(path.join(process.argv[2], name), 'utf8');
}`,
);

const rows = [];
for (const models of values.models.split(',').map(Number)) {
  const folder = join(workshop, String(models));
  writeSyntheticProject(folder, models);
  const source = join(folder, 'src');
  const generate = [bin, 'generate', '--config', join(folder, 'fw.config.yaml')];
  measure(generate);
  const changing = join(source, 'models', `${fileName(0)}.ts`);
  const past = new Date(Date.now() - 60_000);
  utimesSync(changing, past, past);
  measure(generate);
  const subjects = {
    'node -e 0': () => measure(['-e', '0']),
    'nothing changed': () => measure(generate),
    'reading all sources': () => measure([read, source]),
    'createSourceFile on all': () => measure([parse, source]),
    cold: () => measure([...generate, '--clean', '--no-cache']),
    'one file changed': () => {
      appendFileSync(changing, '\n');
      return measure(generate);
    },
  };
  const results = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(subjects)) {
      // The last subject leaves a changed file behind: the cache must be right again before it is asked.
      if (name === 'nothing changed') {
        utimesSync(changing, past, past);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
        measure(generate);
      }
      results[name].push(run());
    }
  }
  for (const [name, list] of Object.entries(results)) {
    rows.push({
      models,
      what: name,
      'CPU s': median(list.map(({ cpu }) => cpu)).toFixed(2),
      s: median(list.map(({ elapsed }) => elapsed)).toFixed(2),
      MB: Math.round(median(list.map(({ megabytes }) => megabytes))),
    });
  }
}
rmSync(workshop, { recursive: true, force: true });
const load = readFileSync('/proc/loadavg', 'utf8').split(' ')[0];
console.log(
  `${cpus().length} cores, load ${load}, Node.js ${process.version}, medians of ${rounds} interleaved rounds`,
);
console.table(rows);
