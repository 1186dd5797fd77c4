import { spawnSync } from 'node:child_process';

/**
 * Runs one process to its end.
 *
 * @param {readonly string[]} command program and arguments
 * @param {{ cwd?: string, env?: Record<string, string> }} [options]
 * @returns CPU seconds with those of its children, seconds and megabytes at most
 */
export function measure(command, { cwd, env } = {}) {
  const { stderr, stdout, status, error } = spawnSync('/usr/bin/time', ['-f', '%U %S %e %M', ...command], {
    encoding: 'utf8',
    cwd,
    env: { ...process.env, ...env },
    maxBuffer: 256 * 1024 * 1024,
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command.join(' ')}\n${stdout.slice(-2_000)}${stderr.slice(-2_000)}`);
  const [user, system, elapsed, kilobytes] = (stderr.trim().split('\n').at(-1) ?? '').split(' ').map(Number);
  return { cpu: user + system, elapsed, megabytes: kilobytes / 1024 };
}

/** The same with Node.js. */
export function measureNode(args, options) {
  return measure([process.execPath, ...args], options);
}

export function median(list) {
  return [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
}

/** One row of a table from several runs of one thing. */
export function rowOf(runs) {
  return {
    'CPU s': median(runs.map(({ cpu }) => cpu)).toFixed(2),
    s: median(runs.map(({ elapsed }) => elapsed)).toFixed(2),
    MB: Math.round(median(runs.map(({ megabytes }) => megabytes))),
  };
}

/** As `rowOf`, with the fastest run's values; memory is the least of the peaks. */
export function leastOf(runs) {
  return {
    'CPU s': Math.min(...runs.map(({ cpu }) => cpu)).toFixed(2),
    s: Math.min(...runs.map(({ elapsed }) => elapsed)).toFixed(2),
    MB: Math.round(Math.max(...runs.map(({ megabytes }) => megabytes))),
  };
}
