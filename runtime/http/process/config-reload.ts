import type { Application } from '../../application.js';
import { sleep } from '../../concurrency/time.js';
import { ConfigurationError, formatProblem } from '../../config/configuration-error.js';
import { kebabCase } from '../../config/key-names.js';
import { loadConfig } from '../../config/load-config.js';
import type { FwConfig, ShardingTopology } from '../../config/types.js';
import { errorFacts, type Logger } from '../../domain/logger.js';
import { FwError, messageOf, ReloadRefusedError } from '../../errors.js';
import { describeChange } from '../../sharding/topology-changes.js';
import { followFiles } from './follow-files.js';
import type { ProcessPort } from './process-port.js';

export interface ConfigReload {
  /** The configuration at the start of the process. */
  readonly config: FwConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly application: Pick<Application, 'reload'>;
  /** Called with each topology that has taken effect. */
  readonly reloaded: (topology: ShardingTopology) => void;
  readonly log: Logger;
  readonly port: Pick<ProcessPort, 'on'>;
}

/** Pause before a file that was refused for a reason that may pass is read again, in milliseconds. */
const RETRY_MS = 5_000;

/**
 * Follows the configuration file: after a change, or on SIGHUP, the new topology is checked and takes effect, or is
 * refused with the reason while the old one stays. A file that is refused for a reason that may pass, such as an added
 * shard that is not ready, is tried again until it is accepted. Other changed settings need a restart, which is logged.
 *
 * @returns a function that stops it
 */
export function followConfig(options: ConfigReload): () => void {
  let latest = new AbortController();
  const unfollow = followFiles([options.config.file], options.port, () => {
    latest.abort();
    latest = new AbortController();
    void reloadUntilReady(options, latest.signal);
  });
  return () => {
    latest.abort();
    unfollow();
  };
}

async function reloadUntilReady(options: ConfigReload, signal: AbortSignal): Promise<void> {
  let known: string | undefined;
  do {
    const failure = await reloadOnce(options, known === undefined);
    if (failure === undefined) return;
    const reason = messageOf(failure);
    if (reason !== known)
      options.log.error(factsOf(failure), 'the configuration was not reloaded; the old one stays in use');
    known = reason;
    if (!(failure instanceof ReloadRefusedError && failure.mayPass)) return;
    await sleep(RETRY_MS, { ref: false, signal }).catch(() => {});
  } while (!signal.aborted);
}

/** @returns why it failed; undefined if the configuration was reloaded */
async function reloadOnce(
  { config, env, application, reloaded, log }: ConfigReload,
  isFirst: boolean,
): Promise<unknown> {
  try {
    const next = loadConfig(config.file, { env });
    for (const key of isFirst ? keysForRestart(config, next) : [])
      log.warn({}, `configuration: ${key} changed; restart to apply it`);
    const changes = await application.reload(next.sharding);
    reloaded(next.sharding);
    for (const change of changes) log.info({}, `topology: ${describeChange(change)}`);
    if (changes.length === 0) log.info({}, 'topology: no change');
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Keys outside of `fw.sharding` that differ from those at the start of the server, in the order of the file. */
export function keysForRestart(started: FwConfig, next: FwConfig): readonly string[] {
  const [before, after] = [settingsOf(started), settingsOf(next)];
  return Object.keys(before).filter((key) => before[key] !== after[key]);
}

/** Without `fw.generator`, which only `fw-gen` uses. */
function settingsOf(config: FwConfig): Readonly<Record<string, unknown>> {
  const { namespace, migrateAtStart, execution, retention } = config;
  const keys = Object.entries({ execution, retention }).flatMap(([section, values]) =>
    Object.entries(values).map(([name, value]) => [`fw.${section}.${kebabCase(name)}`, value] as const),
  );
  return {
    'fw.namespace': namespace,
    'fw.migrate-at-start': migrateAtStart,
    ...Object.fromEntries(keys),
    'fw.relay': JSON.stringify(config.relay),
    'fw.access': JSON.stringify(config.access),
    'fw.http': JSON.stringify(config.http),
  };
}

function factsOf(error: unknown): object {
  if (error instanceof ConfigurationError) return { problems: error.problems.map(formatProblem) };
  if (error instanceof FwError) return { code: error.code, reason: error.message };
  return errorFacts(error);
}
