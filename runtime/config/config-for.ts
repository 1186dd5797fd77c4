import { ConfigurationError } from './configuration-error.js';
import { didYouMean } from './suggest.js';
import type { DataSourceConfig, MemberConfig } from './types.js';

/**
 * A named database configuration of a member, by its camelCase name: `primaryConfig`, `secondaryConfig`, or a name that
 * the application chose (`jobs-config` in YAML is `jobsConfig` here).
 *
 * @throws ConfigurationError if the member has no such configuration
 */
export function configFor(member: MemberConfig, name: string): DataSourceConfig {
  const configs = new Map<string, DataSourceConfig>(Object.entries(member.others));
  configs.set('primaryConfig', member.primary);
  if (member.secondary !== undefined) configs.set('secondaryConfig', member.secondary);
  const config = configs.get(name);
  if (config !== undefined) return config;
  const hint = didYouMean(name, [...configs.keys()]);
  const path = `${member.name}.configs.${name}`;
  const place = { file: undefined, line: undefined, column: undefined, path };
  const message = `shard ${member.shard.toString()} has no such configuration`;
  throw new ConfigurationError([{ ...place, message, ...(hint === undefined ? {} : { hint }) }]);
}
