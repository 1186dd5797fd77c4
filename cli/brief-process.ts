import { createRequire } from 'node:module';
import type * as V8 from 'node:v8';

const load = createRequire(import.meta.url);
/** Flags of the user take precedence. */
const mayTune = process.execArgv.length === 0 && (process.env['NODE_OPTIONS'] ?? '') === '';

let isSparing = false;

/**
 * Disables optimizing compilation: in a process of a few hundred milliseconds it takes a quarter of the time and does
 * not pay off. Affects only speed.
 */
export function spareOptimizing(): void {
  if (!mayTune || isSparing) return;
  isSparing = true;
  v8().setFlagsFromString('--no-opt');
}

/**
 * Reduces optimization: most functions of a run of a few seconds do not pay back their optimization, especially with
 * inlining, which would take a quarter of a large cold run. Must run before other code is compiled, because cached code
 * is valid only for the flags under which it was compiled.
 */
export function optimizeLess(): void {
  const release = Number.parseInt(process.versions.node, 10);
  // The engine warns about unknown flags.
  if (!mayTune || release > 24) return;
  v8().setFlagsFromString('--max-inlined-bytecode-size-cumulative=100');
  if (release === 20) v8().setFlagsFromString('--interrupt-budget=200000');
}

/** Restores optimization for a process that runs longer. */
export function resumeOptimizing(): void {
  if (!isSparing) return;
  isSparing = false;
  v8().setFlagsFromString('--opt');
}

function v8(): typeof V8 {
  return load('node:v8');
}
