import { parseArgs } from 'node:util';
import { messageOf } from '../../errors.js';
import type { ServeSettings } from './serve-options.js';

/** The options of a program that serves an application. */
export const USAGE = `Options:
  --config <file>  configuration file (FW_CONFIG, default fw.config.yaml)
  --host <host>    address to listen on (HOST, default 127.0.0.1)
  --port <port>    port to listen on, 0 for any free one (PORT, default 8080)
  --help           show this text
`;

/** Address and configuration file. */
export interface ServeCommand {
  readonly config: string;
  readonly host: string;
  readonly port: number;
}

/** The command line or the environment cannot be understood. */
export class UsageError extends Error {}

/**
 * Reads the command line, then the environment, then the program's own settings.
 *
 * @returns `help` if only help was requested
 * @throws UsageError for unknown flags, missing values and invalid ports
 */
export function readCommandLine(settings: ServeSettings): ServeCommand | 'help' {
  const { argv = process.argv.slice(2), env = process.env } = settings;
  const flags = parseFlags(argv);
  if (flags.help === true) return 'help';
  return {
    config: flags.config ?? (env['FW_CONFIG'] || settings.config) ?? 'fw.config.yaml',
    host: flags.host ?? (env['HOST'] || settings.host) ?? '127.0.0.1',
    port:
      readPort('--port', flags.port) ?? readPort('PORT', env['PORT'] || undefined) ?? settings.port ?? 8_080,
  };
}

function parseFlags(argv: readonly string[]) {
  try {
    const text = { type: 'string' } as const;
    return parseArgs({
      args: [...argv],
      options: { config: text, host: text, port: text, help: { type: 'boolean', short: 'h' } },
    }).values;
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error });
  }
}

function readPort(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[0-9]{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new UsageError(`${name} must be a port from 0 to 65535, got ${JSON.stringify(text.slice(0, 64))}`);
}
