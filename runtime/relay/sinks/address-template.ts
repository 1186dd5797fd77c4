import type { RelayMessage } from '../relay-sink.js';

/** The topic or subject of a message: `events.{model}.{event}` -> `events.Wallet.WalletCreatedEvent`. */
export function addressOf(template: string, { modelName, eventType }: RelayMessage): string {
  return template.replace(/\{(model|event)\}/g, (_, name) => part(name === 'model' ? modelName : eventType));
}

/** Replaces characters that NATS or Kafka does not allow in a name. */
function part(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_');
}
