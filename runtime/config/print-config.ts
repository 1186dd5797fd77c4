import { kebabCase } from './key-names.js';
import { SecretText } from './secret.js';
import { shownUrl } from './shown-url.js';
import type {
  AccessConfig,
  DatabaseUrl,
  DataSourceConfig,
  FwConfig,
  GroupConfig,
  MemberConfig,
  SinkConfig,
} from './types.js';

/**
 * The effective configuration: with all defaults, references replaced, paths absolute, and secrets as `***`. JSON,
 * which is also YAML.
 */
export function printConfig({
  namespace,
  migrateAtStart,
  sharding,
  access,
  http,
  execution,
  retention,
  relay,
  generator,
}: FwConfig): string {
  const { group, member } = sharding.defaultShard;
  const fw = {
    namespace,
    migrateAtStart,
    sharding: {
      defaultShard: { group, member },
      maximumConnections: sharding.maximumConnections,
      groups: sharding.groups.map(groupJson),
    },
    access: accessJson(access),
    http,
    execution,
    retention,
    relay: relay && {
      schemaBaseUrl: relay.schemaBaseUrl,
      sinks: relay.sinks.map(sinkJson),
    },
    generator: generator && {
      source: generator.sourceDirectory,
      output: generator.outputDirectory,
      migrations: generator.migrationsDirectory,
      templates: generator.templatesDirectory,
      client: generator.clientDirectory,
      title: generator.title,
      version: generator.version,
    },
  };
  return JSON.stringify({ fw: inKebabCase(fw) }, null, 2);
}

/** Lists that the file contains as texts. */
function accessJson({ jwt, hosts, tenancy, operators, ...rest }: AccessConfig): object {
  const { claim, unrestricted } = tenancy ?? {};
  return {
    ...rest,
    jwt: jwt && {
      ...jwt,
      jwksUrl: jwt.jwksUrl && shownUrl(jwt.jwksUrl),
      claims: textOf(jwt.claims),
    },
    hosts: textOf(hosts),
    tenancy: tenancy && {
      claim,
      unrestricted: claimText(unrestricted),
    },
    operators: claimText(operators),
  };
}

function claimText(pair: AccessConfig['operators']): string | undefined {
  return pair && `${pair.claim}=${pair.value}`;
}

function textOf(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : names.join(', ');
}

function sinkJson({ receiver, models, events, ...settings }: SinkConfig): object {
  const { kind, ...rest } = receiver;
  const shown = Object.entries(rest).map(([key, value]) => [
    key,
    value instanceof SecretText ? '***' : key === 'url' ? shownUrl(String(value)) : value,
  ]);
  const unlessEmpty = (names: readonly string[]): readonly string[] | undefined =>
    names.length === 0 ? undefined : names;
  return {
    ...settings,
    models: unlessEmpty(models),
    events: unlessEmpty(events),
    [kind]: Object.fromEntries(shown),
  };
}

function groupJson({ group, name, members }: GroupConfig): object {
  return { group, name, members: members.map(memberJson) };
}

function memberJson({ shard, name, weight, draining, primary, secondary, others }: MemberConfig): object {
  const sources: Record<string, DataSourceConfig | undefined> = {
    primaryConfig: primary,
    secondaryConfig: secondary,
    ...others,
  };
  const configs = Object.entries(sources).map(([key, source]) => [key, source && sourceJson(source)]);
  return { member: shard.member, name, weight, draining, configs: Object.fromEntries(configs) };
}

function sourceJson({ url, password, ...rest }: DataSourceConfig): object {
  return { jdbcUrl: jdbcUrl(url), ...rest, password: password && '***' };
}

/** The JDBC URL that parses to this URL. */
export function jdbcUrl(url: DatabaseUrl): string {
  if (url.kind === 'pglite') return `jdbc:pglite:${url.storage}:${url.location}`;
  const host = url.host.includes(':') ? `[${url.host}]` : url.host;
  const { sslMode, sslRootCert, clientCertificate } = url;
  const files = Object.entries({
    sslrootcert: sslRootCert,
    sslcert: clientCertificate?.certificate,
    sslkey: clientCertificate?.key,
  }).map(([name, path]) => (path === undefined ? '' : `&${name}=${encodeURIComponent(path)}`));
  const parameters = sslMode === 'disable' ? '' : `?sslmode=${sslMode}${files.join('')}`;
  return `jdbc:postgresql://${host}:${url.port}/${encodeURIComponent(url.database)}${parameters}`;
}

function inKebabCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inKebabCase);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [kebabCase(key), inKebabCase(item)]));
}
