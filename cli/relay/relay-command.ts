import { once } from 'node:events';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DatabaseRegistry, EventDescriptor, Relay, RelayPages } from '../../runtime/operations.js';
import { type CommandContext, InputError, readConfig, wholeNumber, withConfig } from '../command-context.js';
import type { Command } from '../commander.js';
import { expectFailures } from '../database-failures.js';
import { EXIT, type ExitCode } from '../exit.js';
import { examples } from '../help.js';

interface RelayFlags {
  readonly config: string;
  readonly sink?: readonly string[];
  readonly application?: string;
  readonly port?: number;
  readonly host: string;
}

/** Adds `fw-gen relay`. */
export function addRelayCommand(program: Command, context: CommandContext): void {
  withConfig(program.command('relay'))
    .description(
      'Sends events to the sinks of fw.relay until it is interrupted. Run several processes for failover: each sink runs in one process per shard.',
    )
    .option('--sink <name...>', 'only these sinks')
    .option(
      '--application <module>',
      'compiled module that exports the application, for sinks with versions: latest',
    )
    .option(
      '--port <port>',
      'serves /health/live, /health/ready and /metrics there; 0 for any free port',
      wholeNumber(0, 65_535),
    )
    .option('--host <host>', 'address for --port', '127.0.0.1')
    .addHelpText(
      'after',
      examples(
        ['fw-gen relay', 'all sinks of the configuration'],
        ['fw-gen relay --sink orders', 'one of them'],
        ['fw-gen relay --host 0.0.0.0 --port 9464', 'with health checks and metrics'],
        ['fw-gen events lag', 'shows the position of each, named relay:<sink>'],
      ),
    )
    .action((flags: RelayFlags) => context.run(() => expectFailures(() => relay(flags, context))));
}

async function relay(flags: RelayFlags, { output, signal }: CommandContext): Promise<ExitCode> {
  const config = readConfig(flags.config);
  if (config.relay === undefined) {
    throw new InputError(`${flags.config} has no fw.relay. docs/integration.md shows how to set up sinks.`);
  }
  const sinks = chosenSinks(config.relay.sinks, flags.sink);
  const events = flags.application === undefined ? undefined : await eventsOf(flags.application);
  const { configuredSinks, Relay, withDatabases } = await import('../../runtime/operations.js');
  const { schemaBaseUrl } = config.relay;
  const definitions = configuredSinks({ schemaBaseUrl, sinks });
  return withDatabases(config.sharding, output.error, async (databases) => {
    const process = new Relay({ databases, sinks: definitions, events, schemaBaseUrl, warn: output.error });
    const pages = await servePages(flags, databases, process);
    process.start();
    output.info(`relaying to ${sinks.map(({ name }) => name).join(', ')}`);
    if (pages !== undefined) output.info(`health and metrics on ${pages.url}`);
    if (!signal.aborted) await once(signal, 'abort');
    await process.stop();
    await pages?.close();
    return EXIT.success;
  });
}

/** Undefined without `--port`. @throws InputError for an address that cannot be listened on */
async function servePages(
  { port, host }: RelayFlags,
  databases: DatabaseRegistry,
  relaying: Relay,
): Promise<RelayPages | undefined> {
  if (port === undefined) return undefined;
  const { serveRelay } = await import('../../runtime/operations.js');
  try {
    return await serveRelay(databases, relaying, { host, port });
  } catch (error) {
    throw new InputError(`Cannot listen on --host ${host} --port ${port}: ${String(error)}`);
  }
}

/** @throws InputError for an unknown sink name */
function chosenSinks<Sink extends { readonly name: string }>(
  sinks: readonly Sink[],
  names: readonly string[] | undefined,
): readonly Sink[] {
  if (names === undefined) return sinks;
  return names.map((name) => {
    const found = sinks.find((sink) => sink.name === name);
    if (found !== undefined) return found;
    throw new InputError(
      `Sink ${name} does not exist. Choose one of: ${sinks.map((each) => each.name).join(', ')}.`,
    );
  });
}

/** @throws InputError if the module exports no application */
async function eventsOf(module: string): Promise<readonly EventDescriptor[]> {
  const exported = (await import(pathToFileURL(resolve(module)).href)) as { readonly application?: unknown };
  const { application } = exported;
  if (typeof application === 'object' && application !== null && 'events' in application) {
    const { events } = application;
    // Emitted code, whose type the compiler has checked.
    if (Array.isArray(events)) return events as readonly EventDescriptor[];
  }
  throw new InputError(`${module} exports no application. Pass the compiled generated/application.js.`);
}
