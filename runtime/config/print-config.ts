import { root } from './catalogue.js';
import type { FwConfig } from './types.js';

/**
 * The effective configuration: with all defaults, references replaced, paths absolute, and secrets as `***`. JSON,
 * which is also YAML.
 */
export function printConfig(config: FwConfig): string {
  const { file: _, ...fw } = config;
  return JSON.stringify(root.print({ fw }), null, 2);
}
