import { createRequire } from 'node:module';
import type { CommandEntry } from './command.js';
import type { Output } from './exit.js';
import { run } from './program.js';
import { readerLeft, writeText } from './standard-streams.js';

/** Runs a command line with this process's terminal, signals and exit code. */
export async function runInTerminal(
  argv: readonly string[],
  commands: readonly CommandEntry[],
): Promise<void> {
  const options = { version: packageVersion(), signal: interruption(), commands };
  process.exitCode = await run(argv, terminal(), options);
}

function terminal(): Output {
  return {
    info: (line) => writeText(process.stdout, `${line}\n`),
    error: (line) => writeText(process.stderr, `${line}\n`),
    ...(process.stderr.isTTY ? { progress: (text) => writeText(process.stderr, `\r\u001B[K${text}`) } : {}),
  };
}

/**
 * Returns a signal that is aborted when the process receives SIGINT or SIGTERM, with the signal's name as the reason, or
 * when the reader of the output leaves. Work that cannot end early, such as a run, finishes.
 */
function interruption(): AbortSignal {
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort('SIGINT'));
  process.once('SIGTERM', () => interrupted.abort('SIGTERM'));
  readerLeft.addEventListener('abort', () => interrupted.abort('EPIPE'), { once: true });
  return interrupted.signal;
}

/** Version in this package's `package.json`. */
function packageVersion(): string {
  const manifest: { readonly version: string } = createRequire(import.meta.url)('fw-actions/package.json');
  return manifest.version;
}
