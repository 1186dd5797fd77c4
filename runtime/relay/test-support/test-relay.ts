import { onTestFinished } from 'vitest';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { Relay, type RelayOptions } from '../relay.js';
import type { SinkDefinition } from '../sink-definition.js';

/** Starts a relay to one sink, which stops when the test ends. */
export function testRelay(
  databases: DatabaseRegistry,
  sink: SinkDefinition,
  options: Partial<RelayOptions> = {},
): Relay {
  const relay = new Relay({ databases, sinks: [sink], warn: () => {}, ...options });
  onTestFinished(() => relay.stop(0));
  relay.start();
  return relay;
}
