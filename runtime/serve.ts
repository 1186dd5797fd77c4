import type { ApplicationDefinition } from './application-definition.js';
import type { RunningServer, ServeOptions, ServeSettings } from './http/process/serve-options.js';

export type {
  RunningServer,
  ServeOptions,
  ServerTools,
  ServeSettings,
} from './http/process/serve-options.js';

/**
 * Runs an application as a process: reads the command line, the environment and the configuration, opens and migrates
 * the databases, listens, and prints `listening on <url>` as the only line on stdout. SIGTERM and SIGINT drain and end
 * the process within 10 seconds; a second signal ends it at once. A failed start reports the reason on stderr and ends
 * the process: with 2 for wrong usage or configuration, with 1 otherwise.
 */
export async function serve<Collaborators>(
  application: ApplicationDefinition<Collaborators>,
  options: ServeOptions<Collaborators>,
): Promise<RunningServer> {
  // Generated code re-exports this function; only a serving process loads the server.
  const { serveApplication } = await import('./http/process/serve-application.js');
  const { collaborators } = options as ServeSettings & { readonly collaborators?: Collaborators };
  return serveApplication(application, { ...options, collaborators: collaborators ?? ({} as Collaborators) });
}
