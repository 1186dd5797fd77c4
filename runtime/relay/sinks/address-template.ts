import type { RelayMessage } from '../relay-sink.js';

/** A topic or subject of a message: `events.{model}.{event}` -> `events.Wallet.WalletCreatedEvent`. */
export function addressOf(template: string, { modelName, eventType }: RelayMessage): string {
  return template.replace(/\{(model|event)\}/g, (_, name) => part(name === 'model' ? modelName : eventType));
}

/** What neither NATS nor Kafka takes in a name is replaced. */
function part(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_');
}
