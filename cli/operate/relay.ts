import { once } from 'node:events';
import type { DatabaseRegistry, Relay, RelayPages } from '../../runtime/operations.js';
import { CONFIG, type CommandEntry, type Input, text, value, wholeNumber } from '../command.js';
import { InputError } from '../input-error.js';
import { applicationOf } from '../load-module.js';
import { operatorCommand } from './operator-command.js';

const SINKS: Input<readonly string[] | undefined> = { flags: '--sink <name...>', about: 'only these sinks' };

/** `fw-gen relay` */
export const RELAY: CommandEntry = operatorCommand({
  name: 'relay',
  about:
    'Sends events to the sinks of fw.relay until it is interrupted. Run several processes for failover: each sink runs in one process per shard.',
  examples: [
    ['fw-gen relay', 'all sinks of the configuration'],
    ['fw-gen relay --sink orders', 'one of them'],
    ['fw-gen relay --host 0.0.0.0 --port 9464', 'with health checks and metrics'],
    ['fw-gen events lag', 'shows the position of each, named relay:<sink>'],
  ],
  inputs: {
    ...CONFIG,
    sink: SINKS,
    application: text(
      '--application <module>',
      'compiled module that exports the application: the filter of a sink then covers former names of its events',
    ),
    port: value(
      '--port <port>',
      'serves /health/live, /health/ready and /metrics there; 0 for any free port',
      wholeNumber(0, 65_535),
    ),
    host: value('--host <host>', 'address for --port', (host) => host, '127.0.0.1'),
  },
  isVisitor: () => true,
  uses: ['relay'],
  run: async ({ runtime, config, databases }, flags, { output, signal }) => {
    if (config.relay === undefined)
      throw new InputError(`${flags.config} has no fw.relay. docs/integration.md shows how to set up sinks.`);
    const { schemaBaseUrl } = config.relay;
    const sinks = chosenSinks(config.relay.sinks, flags.sink);
    const events =
      flags.application === undefined ? undefined : (await applicationOf(flags.application)).events;
    const definitions = runtime.configuredSinks({ schemaBaseUrl, sinks });
    const relay = new runtime.Relay({
      databases,
      sinks: definitions,
      events,
      schemaBaseUrl,
      warn: output.error,
    });
    const pages = await servePages(flags, databases, relay);
    relay.start();
    output.info(`relaying to ${sinks.map(({ name }) => name).join(', ')}`);
    if (pages !== undefined) output.info(`health and metrics on ${pages.url}`);
    if (!signal.aborted) await once(signal, 'abort');
    await relay.stop();
    await pages?.close();
    return {};
  },
});

/** Undefined without `--port`. @throws InputError for an address that cannot be listened on */
async function servePages(
  { port, host }: { readonly port: number | undefined; readonly host: string },
  databases: DatabaseRegistry,
  relay: Relay,
): Promise<RelayPages | undefined> {
  if (port === undefined) return undefined;
  const { serveRelay } = await import('../../runtime/operations.js');
  try {
    return await serveRelay(databases, relay, { host, port });
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
