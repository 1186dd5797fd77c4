/** Runs `execute()` in this process under the CPU profiler and reports the time of one action by function. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { parseArgs } from 'node:util';
import { createDatabase, dropDatabase } from './lib/database.js';
import { runLoad } from './lib/load.js';
import { areas, selfTimes } from './lib/profile-table.js';
import { decimals, plain, progress, whole } from './lib/report.js';
import { openServer } from './lib/server.js';

const HELP = `node profile.js [options]
  --concurrency <list>  default 32,256
  --seconds <n>         measured time of each (default 5), after as much warm-up as --warm-up says (default 3)
  --top <n>             functions to print (default 25)
  --hot                 one hot wallet
  --heap                allocations as well: bytes per action by function
  --variant <name>      framework (default), framework-traced, bare or node-postgres
  --save <name>         keeps the tables as results/profile-<name>.json, for RESULTS.md
A .cpuprofile of each, for the browser's developer tools, lies in profiles/.`;

const DATABASE = 'b_profile';
const SAMPLING_US = 200;
const HEAP_SAMPLING_BYTES = 16_384;

const { values: given } = parseArgs({
  options: {
    concurrency: { type: 'string', default: '32,256' },
    seconds: { type: 'string', default: '5' },
    'warm-up': { type: 'string', default: '3' },
    top: { type: 'string', default: '25' },
    variant: { type: 'string', default: 'framework' },
    save: { type: 'string' },
    hot: { type: 'boolean', default: false },
    heap: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (given.help) {
  process.stdout.write(`${HELP}\n`);
  process.exit(0);
}

const server = await openServer();
const results = [];
try {
  const schema = given.variant === 'node-postgres' ? 'peer' : 'framework';
  const connection = await createDatabase(server, DATABASE, schema);
  const { open } = await import(`./peers/${given.variant}.js`);
  const target = await open({ connection });
  for (const concurrency of given.concurrency.split(',').map(Number))
    results.push(await profile(target, concurrency));
  await target.close();
  await dropDatabase(server, DATABASE);
} finally {
  await server.close();
}
for (const result of results) print(result);
if (given.save !== undefined) {
  const file = new URL(`./results/profile-${given.save}.json`, import.meta.url);
  writeFileSync(file, `${JSON.stringify(results, undefined, 1)}\n`);
}

async function profile(target, concurrency) {
  progress(`profiling at ${concurrency}`);
  const session = new Session();
  session.connect();
  const recording = record(session, concurrency);
  const load = {
    concurrency,
    hot: given.hot,
    warmUpMs: Number(given['warm-up']) * 1000,
    measureMs: Number(given.seconds) * 1000,
  };
  const measured = await runLoad(target, load, recording.onEdge);
  const { cpu, heap } = await recording.done;
  session.disconnect();
  const functions = selfTimes(cpu);
  return {
    concurrency,
    deposits: measured.deposits,
    perSecond: measured.perSecond,
    clientUs: measured.clientUs,
    areas: areas(functions),
    functions: functions.slice(0, 100),
    allocations: heap === undefined ? undefined : allocations(heap, measured.deposits),
  };
}

/** Profiles during the window. */
function record(session, concurrency) {
  let finish;
  const done = new Promise((resolve) => {
    finish = resolve;
  });
  const begin = async () => {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: SAMPLING_US });
    if (given.heap) {
      const included = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };
      await session.post('HeapProfiler.startSampling', {
        samplingInterval: HEAP_SAMPLING_BYTES,
        ...included,
      });
    }
    await session.post('Profiler.start');
  };
  const end = async () => {
    const { profile: cpu } = await session.post('Profiler.stop');
    const heap = given.heap ? (await session.post('HeapProfiler.stopSampling')).profile : undefined;
    mkdirSync(new URL('./profiles/', import.meta.url), { recursive: true });
    writeFileSync(
      new URL(`./profiles/${given.variant}-${concurrency}.cpuprofile`, import.meta.url),
      JSON.stringify(cpu),
    );
    finish({ cpu, heap });
  };
  return { done, onEdge: (edge) => (edge === 'begin' ? begin() : end()) };
}

/** Bytes per action by function, largest first. */
function allocations({ head, samples }, deposits) {
  const frames = new Map();
  const walk = (node) => {
    frames.set(node.id, node.callFrame);
    node.children.forEach(walk);
  };
  walk(head);
  const bytes = new Map();
  for (const { nodeId, size } of samples) {
    const frame = frames.get(nodeId);
    // Samples taken at the end of the recording may refer to a node that is no longer in the tree.
    if (frame === undefined) continue;
    const { functionName, url, lineNumber } = frame;
    const key = `${functionName || '(anonymous)'} ${url.replace(/^.*\/(dist|node_modules|bench)\//, '')}:${lineNumber + 1}`;
    bytes.set(key, (bytes.get(key) ?? 0) + size);
  }
  return [...bytes]
    .map(([name, size]) => ({ name, bytes: size / deposits }))
    .sort((a, b) => b.bytes - a.bytes);
}

function print(result) {
  const { concurrency, perSecond, clientUs } = result;
  const us = (share) => decimals(share * clientUs);
  const percent = (share) => `${(share * 100).toFixed(1)} %`;
  const out = (text) => process.stdout.write(`${text}\n`);
  out(
    `\n${concurrency} at once: ${whole(perSecond)}/s under the profiler, ${decimals(clientUs)} us of client CPU per action\n`,
  );
  const byArea = result.areas.map(({ area, share }) => [area, us(share), percent(share)]);
  out(plain({ heading: ['area', 'us per action', 'share'], rows: byArea }));
  const top = result.functions.slice(0, Number(given.top));
  const rows = top.map(({ name, where, share }) => [`${name}  ${where}`, us(share), percent(share)]);
  out(`\n${plain({ heading: ['function', 'self us per action', 'share'], rows })}`);
  if (result.allocations === undefined) return;
  const most = result.allocations.slice(0, Number(given.top)).map(({ name, bytes }) => [name, whole(bytes)]);
  out(`\n${plain({ heading: ['allocated by', 'bytes per action'], rows: most })}`);
}
