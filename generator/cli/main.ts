import { readFileSync } from 'node:fs';
import { run } from './program.js';

/** `package.json` of the package that this program is part of. */
function packageVersion(): string {
  const file = new URL(import.meta.resolve('fw-actions/package.json'));
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string };
  return version;
}

const interrupted = new AbortController();
process.once('SIGINT', () => interrupted.abort());
process.once('SIGTERM', () => interrupted.abort());

process.exitCode = await run(
  process.argv.slice(2),
  {
    info: (line) => process.stdout.write(`${line}\n`),
    error: (line) => process.stderr.write(`${line}\n`),
    ...(process.stderr.isTTY ? { progress: (text) => process.stderr.write(`\r\u001B[K${text}`) } : {}),
  },
  { version: packageVersion(), signal: interrupted.signal },
);
