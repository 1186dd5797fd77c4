import { isAscii } from 'node:buffer';
import { hash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { arch } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';

/**
 * Requires a CommonJS module, and caches its compiled code for the next process, because compiling a large module takes
 * longer than running it. Cached code is run without further checks, so the folder must be writable only for users who
 * could change the module itself.
 *
 * @param file absolute path of the module
 * @param folder absolute path; created if it is missing
 */
export function requireCompiled<Exports>(file: string, folder: string): Exports {
  const require = createRequire(file);
  const module = require.cache[file] ?? load(file, folder, require);
  const exports: Exports = module.exports;
  return exports;
}

function load(file: string, folder: string, require: NodeJS.Require): NodeJS.Module {
  const tag = cachedDataVersionTag();
  const stored = join(folder, storedName(file, tag));
  const cachedData = readStored(stored);
  const source = wrappedModule(file);
  const script = new Script(source, { filename: file, ...(cachedData === undefined ? {} : { cachedData }) });
  if (cachedData === undefined || script.cachedDataRejected === true) {
    // At exit, so that it includes functions that were compiled at their first call.
    process.once('exit', () => {
      // Compiled code is stored per set of Node.js flags.
      if (cachedDataVersionTag() === tag) store(stored, script);
    });
  }
  const module = new Module(file);
  require.cache[file] = module;
  module.filename = file;
  const run: Wrapper = script.runInThisContext();
  run.call(module.exports, module.exports, require, module, file, dirname(file));
  module.loaded = true;
  return module;
}

type Wrapper = (
  this: unknown,
  exports: unknown,
  require: NodeJS.Require,
  module: Module,
  file: string,
  folder: string,
) => void;

const PROLOGUE = '(function (exports, require, module, __filename, __dirname) {';
const EPILOGUE = '\n})';

/**
 * The module's text as a function. It is assembled as bytes, because concatenating large strings would copy them again.
 */
function wrappedModule(file: string): string {
  const bytes = Buffer.concat([Buffer.from(PROLOGUE), readFileSync(file), Buffer.from(EPILOGUE)]);
  // Fast path for ASCII, which most modules are.
  return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
}

/** Node.js compares only the length of a module, and no checksum of cached code, so both are checked here. */
function storedName(file: string, tag: number): string {
  const { size, mtimeMs, ctimeMs, ino } = statSync(file);
  const key = [file, size, mtimeMs, ctimeMs, ino, arch(), tag];
  return `${basename(file)}-${hash('sha256', key.join(' '), 'hex').slice(0, 16)}${EXTENSION}`;
}

const EXTENSION = '.compiled';
const TEMPORARY = '.tmp';
const HASH_BYTES = 32;

/** The code that an earlier process cached, if it is complete. */
function readStored(file: string): Buffer | undefined {
  try {
    const stored = readFileSync(file);
    const data = stored.subarray(HASH_BYTES);
    return sha256(data).equals(stored.subarray(0, HASH_BYTES)) ? data : undefined;
  } catch {
    return undefined;
  }
}

function store(file: string, script: Script): void {
  const folder = dirname(file);
  try {
    const data = script.createCachedData();
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(folder)) if (isOutdated(folder, name)) rmSync(join(folder, name));
    const temporary = `${file}.${randomUUID()}${TEMPORARY}`;
    writeFileSync(temporary, Buffer.concat([sha256(data), data]));
    renameSync(temporary, file);
  } catch {
    // The folder is read-only, or the disk is full: the next process compiles again.
  }
}

/** Cached for another Node.js or another module, or incomplete. */
function isOutdated(folder: string, name: string): boolean {
  if (!name.endsWith(EXTENSION) && !name.endsWith(TEMPORARY)) return false;
  const age = Date.now() - (statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  return age > OUTDATED_MS;
}

const OUTDATED_MS = 30 * 24 * 3_600_000;

function sha256(data: Buffer): Buffer {
  return Buffer.from(hash('sha256', data, 'hex'), 'hex');
}
