import { readFileSync } from 'node:fs';
import { run } from './program.js';

/** Runs a command line with this process's terminal, signals and exit code. */
export async function runProcess(argv: readonly string[]): Promise<void> {
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  process.once('SIGTERM', () => interrupted.abort());
  process.exitCode = await run(
    argv,
    {
      info: (line) => process.stdout.write(`${line}\n`),
      error: (line) => process.stderr.write(`${line}\n`),
      ...(process.stderr.isTTY ? { progress: (text) => process.stderr.write(`\r\u001B[K${text}`) } : {}),
    },
    { version: packageVersion(), signal: interrupted.signal },
  );
}

/** `package.json` of the package that this program is part of. */
function packageVersion(): string {
  const file = new URL(import.meta.resolve('fw-actions/package.json'));
  const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const isNamed = typeof content === 'object' && content !== null && 'version' in content;
  return isNamed ? String(content.version) : 'unknown';
}
