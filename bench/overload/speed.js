/**
 * How fast the machine is while something is measured. A core of a shared host is up to 1.7 times as fast in one second
 * as in the next, whatever this machine does, and rows that were measured at different times differ by that. One
 * process per core repeats a small piece of work and measures the CPU time that it takes: about 3 % of the core.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';

const EVERY_MS = 20;

if (process.argv[2] === 'probe') probe();

/** The probes of all cores. */
export class MachineSpeed {
  #probes;

  constructor() {
    const file = fileURLToPath(import.meta.url);
    this.#probes = cpus().map((_, core) =>
      spawn('taskset', ['-c', String(core), process.execPath, file, 'probe'], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      }),
    );
  }

  /** Begins a measurement. */
  start() {
    for (const child of this.#probes) child.send('start');
  }

  /** Pieces of work per millisecond of CPU time since `start`, the mean of all cores. */
  async read() {
    const speeds = await Promise.all(
      this.#probes.map(
        (child) =>
          new Promise((resolve) => {
            child.once('message', resolve);
            child.send('read');
          }),
      ),
    );
    return speeds.reduce((sum, speed) => sum + speed, 0) / speeds.length;
  }

  stop() {
    for (const child of this.#probes) child.kill();
  }
}

/** CPU time of all processes of the machine, and time that its host gave to others, in seconds since it started. */
export function machineCpuSeconds() {
  const [user, nice, system, , , interrupts, soft, stolen] = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)[0]
    .split(/ +/)
    .slice(1)
    .map((ticks) => Number(ticks) / 100);
  return user + nice + system + interrupts + soft + stolen;
}

function probe() {
  let [pieces, cpuMs] = [0, 0];
  setInterval(() => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    cpuMs += (user + system) / 1_000;
    pieces += 1;
  }, EVERY_MS);
  process.on('message', (message) => {
    if (message === 'start') [pieces, cpuMs] = [0, 0];
    else process.send?.(pieces / cpuMs);
  });
  process.on('disconnect', () => process.exit(0));
}

/** Objects, texts and garbage: what a server of JSON does. */
function work() {
  const rows = [];
  for (let at = 0; at < 800; at += 1) rows.push({ id: `row-${at}`, at, values: [at, at + 1] });
  return JSON.stringify(rows).length;
}
