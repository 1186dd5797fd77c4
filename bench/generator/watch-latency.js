// Measures how long `fw-gen generate --watch` takes from an edit of one source to the emitted file.
//   node generator/watch-latency.js [--models 100] [--edits 20]
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { median } from './measure-process.js';
import { fileName, writeSyntheticProject } from './synthetic-project.js';

const { values } = parseArgs({
  options: { models: { type: 'string', default: '100' }, edits: { type: 'string', default: '20' } },
});
const models = Number(values.models);
const root = process.env.BENCH_BUILD ?? fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fw-watch-bench-'));
writeSyntheticProject(folder, models);
const source = join(folder, 'src/models', `${fileName(0)}.ts`);
const emitted = join(folder, 'src/generated', `${fileName(0)}.ts`);

function textOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

async function untilEmitted(word) {
  while (!textOf(emitted).includes(word)) await sleep(1);
}

const bin = join(root, 'bin/fw-gen.js');
const args = [bin, 'generate', '--watch', '--config', join(folder, 'fw.config.yaml')];
const watching = spawn(process.execPath, args, { stdio: 'ignore' });
process.on('exit', () => watching.kill());
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
await untilEmitted('remark');
await sleep(2_000);
/** CPU milliseconds of the watching process so far (Linux). */
function cpuMs() {
  const fields = textOf(`/proc/${watching.pid}/stat`).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

const times = [];
const before = cpuMs();
for (let edit = 1; edit <= Number(values.edits); edit += 1) {
  const text = readFileSync(source, 'utf8').replace(/\bremark\d*\b/, `remark${edit}`);
  const started = performance.now();
  writeFileSync(source, text);
  await untilEmitted(`remark${edit}(`);
  times.push(performance.now() - started);
  await sleep(300);
}
const cpu = (cpuMs() - before) / times.length;
watching.kill();
rmSync(folder, { recursive: true, force: true });
const shown = [...times].sort((a, b) => a - b).map((time) => time.toFixed(0));
console.log(
  `${models} models: median ${median(times).toFixed(0)} ms, CPU ${cpu.toFixed(0)} ms per edit, all: ${shown.join(' ')}`,
);
