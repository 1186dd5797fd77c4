import { unwatchFile, watchFile } from 'node:fs';
import type { Application } from '../../application.js';
import { ConfigurationError, formatProblem } from '../../config/configuration-error.js';
import { type Environment, loadConfig } from '../../config/load-config.js';
import { FwError } from '../../errors.js';
import { describeChange } from '../../sharding/topology-changes.js';
import { errorFacts, type Log } from '../log.js';
import type { ProcessPort } from './process-port.js';

/** How often the file is looked at, in milliseconds. Looking by name also sees a mounted file that is swapped as a whole. */
const LOOK_EVERY_MS = 1_000;

export interface ConfigReload {
  readonly file: string;
  readonly env: Environment;
  readonly application: Pick<Application, 'reload'>;
  readonly log: Log;
  readonly port: Pick<ProcessPort, 'onHangup'>;
}

/**
 * Follows the configuration file: on a change of it, or on SIGHUP, the new topology is checked and takes effect, or is
 * refused with the reason while the old one stays. Everything else in the file is read at a start.
 *
 * @returns what ends it
 */
export function followConfig(options: ConfigReload): () => void {
  const reload = (): void => void reloadOnce(options);
  watchFile(options.file, { interval: LOOK_EVERY_MS, persistent: false }, (now, before) => {
    // A file that is being replaced is gone for a moment.
    if (now.mtimeMs !== before.mtimeMs && now.mtimeMs !== 0) reload();
  });
  const forget = options.port.onHangup(reload);
  return () => {
    unwatchFile(options.file);
    forget();
  };
}

async function reloadOnce({ file, env, application, log }: ConfigReload): Promise<void> {
  try {
    const { sharding } = loadConfig(file, { env });
    const changes = await application.reload(sharding);
    for (const change of changes) log({ level: 'info', message: `topology: ${describeChange(change)}` });
    if (changes.length === 0) log({ level: 'info', message: 'topology: no change' });
  } catch (error) {
    log({
      level: 'error',
      message: 'the configuration was not reloaded; the old one stays',
      ...factsOf(error),
    });
  }
}

function factsOf(error: unknown): object {
  if (error instanceof ConfigurationError) return { problems: error.problems.map(formatProblem) };
  if (error instanceof FwError) return { code: error.code, reason: error.message };
  return errorFacts(error);
}
