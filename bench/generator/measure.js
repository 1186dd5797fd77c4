// Measures whole processes of fw-gen on synthetic projects, interleaved, by CPU time and by the clock.
//   node generator/measure.js [--models 10,100,1000] [--rounds 5] [--shape narrow|wide] [--least]
// `--least` gives the least of all rounds instead of the median: on a machine that does other things as well.
// Build the product first (`npm run build` at the root): what is measured is `bin/fw-gen.js`, or that of BENCH_BUILD.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { leastOf, measureNode, rowOf } from './measure-process.js';
import { SHAPES } from './shapes.js';

const { values } = parseArgs({
  options: {
    models: { type: 'string', default: '10,100,1000' },
    rounds: { type: 'string', default: '5' },
    shape: { type: 'string', default: 'narrow' },
    least: { type: 'boolean', default: false },
  },
});
const shape = SHAPES[values.shape];
if (shape === undefined) throw new Error(`--shape is one of ${Object.keys(SHAPES).join(', ')}`);
const root = process.env.BENCH_BUILD ?? fileURLToPath(new URL('../..', import.meta.url));
const bin = join(root, 'bin/fw-gen.js');
const rounds = Number(values.rounds);

const workshop = mkdtempSync(join(tmpdir(), 'fw-bench-'));
const parser = createRequire(join(root, 'node_modules/ts-morph/')).resolve('@ts-morph/common');
const isSource = "name.endsWith('.ts') && !/generated|migrations/.test(name)";
const parse = join(workshop, 'parse.cjs');
writeFileSync(
  parse,
  `const { ts } = require(${JSON.stringify(parser)}); const fs = require('fs'); const path = require('path');
for (const name of fs.readdirSync(process.argv[2], { recursive: true })) {
  if (!(${isSource})) continue;
  const file = path.join(process.argv[2], name);
  ts.createSourceFile(file, fs.readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
}`,
);
const read = join(workshop, 'read.cjs');
writeFileSync(
  read,
  `const fs = require('fs'); const path = require('path');
for (const name of fs.readdirSync(process.argv[2], { recursive: true })) {
  if (${isSource}) fs.readFileSync(path.join(process.argv[2], name), 'utf8');
}`,
);

/** Everything that is measured on a project with this number of models, by name. */
function subjectsOf(models) {
  const folder = join(workshop, String(models));
  shape.write(folder, models);
  const source = join(folder, 'src');
  const generate = [bin, 'generate', '--config', join(folder, 'fw.config.yaml')];
  let edits = 0;
  /** The sources are older than the run that reads them, as in a real project. */
  const generateLater = () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    return measureNode(generate);
  };
  const edit = ({ path, pattern, by }) => {
    edits += 1;
    const file = join(folder, path);
    writeFileSync(file, readFileSync(file, 'utf8').replace(pattern, `${by}${80 + edits}`));
    return generateLater();
  };
  return {
    'node -e 0': () => measureNode(['-e', '0']),
    'reading all sources': () => measureNode([read, source]),
    'createSourceFile on all': () => measureNode([parse, source]),
    cold: () => measureNode([...generate, '--timing']),
    'nothing changed, right after that': () => measureNode(generate),
    ...Object.fromEntries(
      Object.entries(shape.edits).map(([what, change]) => [`changed: ${what}`, () => edit(change)]),
    ),
    'added: a model': () => {
      edits += 1;
      for (const { path, text } of shape.added(edits)) writeFileSync(join(folder, path), text);
      return generateLater();
    },
    'nothing changed, right after an added model': () => measureNode(generate),
    'nothing changed': () => {
      measureNode(generate);
      return measureNode(generate);
    },
  };
}

const rows = [];
for (const models of values.models.split(',').map(Number)) {
  const subjects = subjectsOf(models);
  /** @type {Record<string, ReturnType<typeof measureNode>[]>} */
  const results = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
  // A first uncounted run creates the output.
  subjects['cold']();
  subjects['nothing changed']();
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(subjects)) results[name].push(run());
  }
  for (const [what, runs] of Object.entries(results))
    rows.push({ models, what, ...(values.least ? leastOf : rowOf)(runs) });
}
rmSync(workshop, { recursive: true, force: true });
const load = readFileSync('/proc/loadavg', 'utf8').split(' ')[0];
console.log(
  `${cpus().length} cores, load ${load}, Node.js ${process.version}, ${values.least ? 'least' : 'medians'} of ${rounds} interleaved rounds, shape ${values.shape}`,
);
console.table(rows);
