import { createRequire } from 'node:module';
import type * as V8 from 'node:v8';

const load = createRequire(import.meta.url);
/** Flags that the user sets take precedence. */
const mayTune = process.execArgv.length === 0 && (process.env['NODE_OPTIONS'] ?? '') === '';

let isSparing = false;

/**
 * Disables optimizing compilation from now on: it takes a quarter of the time of a process of a few hundred
 * milliseconds and does not pay off before the process ends. It affects speed only.
 */
export function spareOptimizing(): void {
  if (!mayTune || isSparing) return;
  isSparing = true;
  v8().setFlagsFromString('--no-opt');
}

/**
 * Reduces optimization from now on: most functions of a run that ends within seconds never earn back what it
 * takes to optimize them, least of all with everything that they call inlined: a fourth of the time of a large cold run
 * would go into that. Comes before anything else is compiled, because compiled code is kept for the flags that it was
 * compiled under.
 */
export function optimizeLess(): void {
  const release = Number.parseInt(process.versions.node, 10);
  // The engine complains of flags that it does not know.
  if (!mayTune || release > 24) return;
  v8().setFlagsFromString('--max-inlined-bytecode-size-cumulative=100');
  if (release === 20) v8().setFlagsFromString('--interrupt-budget=200000');
}

/** The process turns out to be a long one. */
export function resumeOptimizing(): void {
  if (!isSparing) return;
  isSparing = false;
  v8().setFlagsFromString('--opt');
}

function v8(): typeof V8 {
  return load('node:v8');
}
