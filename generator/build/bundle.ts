import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleCompiler } from './bundle-compiler.js';
import { bundleProgram } from './bundle-program.js';

/** A build step: creates the few files from which `fw-gen generate` is loaded. */
const generator = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = join(generator, 'bundle');
for (const each of [folder, join(generator, 'compiled')]) rmSync(each, { recursive: true, force: true });
mkdirSync(folder);
await bundleCompiler(generator, folder);
await bundleProgram(generator, folder);
