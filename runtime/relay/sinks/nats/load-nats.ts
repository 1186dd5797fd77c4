import { type OptionalPackage, pathInApplication, requirePackage } from '../../../optional-package.js';

export type JetStreamModule = typeof import('@nats-io/jetstream');
export type TransportModule = typeof import('@nats-io/transport-node');

const JETSTREAM: OptionalPackage = { name: '@nats-io/jetstream', version: '3.3.1' };
const TRANSPORT: OptionalPackage = { name: '@nats-io/transport-node', version: '3.3.1' };

/** @param what the feature that needs the packages, the subject of the message @throws PackageMissingError */
export function requireNats(what: string): void {
  requirePackage(what, JETSTREAM);
  requirePackage(what, TRANSPORT);
}

/** Loads the client and its transport. @throws PackageMissingError */
export async function loadNats(): Promise<{
  readonly jetstream: JetStreamModule;
  readonly transport: TransportModule;
}> {
  requireNats('A sink to NATS');
  const [jetstreamPath, transportPath] = [pathInApplication(JETSTREAM), pathInApplication(TRANSPORT)];
  const jetstream: JetStreamModule = await (jetstreamPath === undefined
    ? import('@nats-io/jetstream')
    : import(jetstreamPath));
  const transport: TransportModule = await (transportPath === undefined
    ? import('@nats-io/transport-node')
    : import(transportPath));
  return { jetstream, transport };
}
