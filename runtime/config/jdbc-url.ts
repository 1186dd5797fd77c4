import { isIP, isIPv4, isIPv6 } from 'node:net';
import { resolve } from 'node:path';
import { parseJdbcParameters } from './jdbc-parameters.js';
import type { Mistake } from './problems.js';
import { didYouMean } from './suggest.js';
import type { DatabaseUrl, PgliteUrl, PostgresUrl } from './types.js';

const POSTGRES_FORM = 'jdbc:postgresql://host:port/database';
const PGLITE_FORM = 'jdbc:pglite:file:<directory> or jdbc:pglite:mem:<name>';
const DEFAULT_PORT = 5_432;
const MAXIMUM_PORT = 65_535;
/** PostgreSQL silently truncates longer names. */
const MAXIMUM_DATABASE_BYTES = 63;

/** A parsed JDBC URL, or all its mistakes. */
export type JdbcUrlResult = { readonly url: DatabaseUrl } | { readonly mistakes: readonly Mistake[] };

/**
 * Parses a JDBC URL strictly, without guessing or ignoring any part. Messages never quote the URL, because it may
 * contain a password by mistake.
 *
 * @param baseDirectory folder against which relative paths (`jdbc:pglite:file:`, `sslrootcert`, `sslcert`, `sslkey`)
 *   are resolved
 */
export function parseJdbcUrl(text: string, baseDirectory: string): JdbcUrlResult {
  if (/[\p{Cc}\p{Cs}]/u.test(text)) return refuse('the URL contains a control character');
  if (!text.startsWith('jdbc:')) {
    return refuse('the URL must start with "jdbc:"', `write ${POSTGRES_FORM}, or ${PGLITE_FORM}`);
  }
  const [, subprotocol = '', rest = ''] = /^jdbc:([^:/]*):?(.*)$/su.exec(text) ?? [];
  switch (subprotocol) {
    case 'postgresql':
      return parsePostgres(rest, baseDirectory);
    case 'pglite':
      return parsePglite(rest, baseDirectory);
    default:
      return refuseSubprotocol(subprotocol);
  }
}

/** The JDBC URL that parses to this URL. */
export function formatJdbcUrl(url: DatabaseUrl): string {
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

/** The value that `driver-class-name` must have for a URL of this kind. */
export function driverClassName(kind: DatabaseUrl['kind']): string {
  return kind === 'postgresql' ? 'org.postgresql.Driver' : 'fw.pglite.Driver';
}

function refuse(message: string, hint?: string): JdbcUrlResult {
  return { mistakes: [{ message, hint }] };
}

function refuseSubprotocol(subprotocol: string): JdbcUrlResult {
  const supported = 'only jdbc:postgresql and jdbc:pglite are supported';
  const known = /^[a-z][a-z0-9]{0,15}$/.test(subprotocol);
  const hint = known ? didYouMean(subprotocol, ['postgresql', 'pglite']) : undefined;
  return refuse(
    known ? `jdbc:${subprotocol} is not supported` : 'the kind of database is not supported',
    hint ?? supported,
  );
}

function parsePostgres(rest: string, baseDirectory: string): JdbcUrlResult {
  if (!rest.startsWith('//')) return refuse('the URL names no host', `write ${POSTGRES_FORM}`);
  if (rest.includes('@')) {
    return refuse(
      'the URL contains credentials',
      'use the keys username and password; write %40 for an @ in a name',
    );
  }
  if (/\s/u.test(rest)) return refuse('the URL contains a space', 'write %20 for a space in a name');
  if (rest.includes('#')) return refuse('the URL contains a "#"', 'write %23 for a # in a name');
  const [, authority = '', path = '', query] = /^\/\/([^/?]*)([^?]*)(?:\?(.*))?$/su.exec(rest) ?? [];
  const address = parseAddress(authority);
  const database = parseDatabase(path);
  const parameters = parseJdbcParameters(query);
  const mistakes = [...address.mistakes, ...database.mistakes, ...parameters.mistakes];
  if (mistakes.length > 0) return { mistakes };
  const { sslRootCert, clientCertificate } = parameters;
  const absolute = (path: string): string => resolve(baseDirectory, path);
  const url: PostgresUrl = {
    kind: 'postgresql',
    host: address.host,
    port: address.port,
    database: database.name,
    sslMode: parameters.sslMode,
    sslRootCert: sslRootCert === undefined ? undefined : absolute(sslRootCert),
    ...(clientCertificate !== undefined && {
      clientCertificate: {
        certificate: absolute(clientCertificate.certificate),
        key: absolute(clientCertificate.key),
      },
    }),
  };
  return { url };
}

interface Address {
  readonly host: string;
  readonly port: number;
  readonly mistakes: readonly Mistake[];
}

function parseAddress(authority: string): Address {
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/su.exec(authority);
  const [, host = '', portText] = bracketed ?? /^([^:]*)(?::(.*))?$/su.exec(authority) ?? [];
  const port = portText === undefined ? DEFAULT_PORT : parsePort(portText);
  const shapeMistake = authorityMistake(authority) ?? hostMistake(host, bracketed !== null);
  if (shapeMistake !== undefined) return { host, port: DEFAULT_PORT, mistakes: [shapeMistake] };
  if (port !== undefined) return { host, port, mistakes: [] };
  const portMistake = { message: `the port of the URL must be from 1 to ${MAXIMUM_PORT}` };
  return { host, port: DEFAULT_PORT, mistakes: [portMistake] };
}

/** The mistake of host and port as a whole, before either is parsed. */
function authorityMistake(authority: string): Mistake | undefined {
  if (authority.includes(',')) {
    return { message: 'the URL names several hosts', hint: 'a shard is one database on one host' };
  }
  if (!authority.startsWith('[') && authority.split(':').length > 2) {
    return {
      message: 'the URL has more than one ":" in its host and port',
      hint: 'put an IPv6 address in brackets',
    };
  }
  return undefined;
}

function hostMistake(host: string, bracketed: boolean): Mistake | undefined {
  if (host === '') return { message: 'the URL names no host', hint: `write ${POSTGRES_FORM}` };
  const valid = bracketed ? isIPv6(host) && !host.includes('%') : isHostName(host);
  if (valid) return undefined;
  return {
    message: 'the host of the URL is not a host name or an address',
    hint: 'put an IPv6 address in brackets, and letters other than a-z in their xn-- form',
  };
}

function parsePort(text: string): number | undefined {
  if (!/^[1-9][0-9]{0,4}$/.test(text)) return undefined;
  const port = Number(text);
  return port <= MAXIMUM_PORT ? port : undefined;
}

/** Underscores are invalid in host names, but container networks use them. */
function isHostName(host: string): boolean {
  if (/^[0-9.]+$/.test(host)) return isIPv4(host);
  if (isIP(host) !== 0) return false;
  return (
    host.length <= 253 &&
    host.split('.').every((label) => /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/.test(label))
  );
}

function parseDatabase(path: string): { readonly name: string; readonly mistakes: readonly Mistake[] } {
  const encoded = path.slice(1);
  const name = decode(encoded);
  const wrong = (message: string, hint?: string): { name: string; mistakes: Mistake[] } => ({
    name: '',
    mistakes: [{ message, hint }],
  });
  if (encoded === '') return wrong('the URL names no database', `write ${POSTGRES_FORM}`);
  if (encoded.includes('/'))
    return wrong('the URL has more than one "/" after the host', 'write %2F for a / in a name');
  if (name === undefined)
    return wrong('the percent-encoding of the database name is broken', 'write %25 for a percent sign');
  if (name.includes('\0')) return wrong('the name of the database contains a NUL character');
  if (Buffer.byteLength(name) > MAXIMUM_DATABASE_BYTES) {
    return wrong(`the name of the database is longer than ${MAXIMUM_DATABASE_BYTES} bytes`);
  }
  return { name, mistakes: [] };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function parsePglite(rest: string, baseDirectory: string): JdbcUrlResult {
  const [, storage, location = ''] = /^(file|mem):(.*)$/su.exec(rest) ?? [];
  if (storage !== 'file' && storage !== 'mem') {
    return refuse('a URL of the embedded database must say file: or mem:', `write ${PGLITE_FORM}`);
  }
  if (location.includes('?')) return refuse('a URL of the embedded database takes no parameters');
  if (storage === 'mem') return parsePgliteMemory(location);
  if (location === '') return refuse('the URL names no directory', 'write jdbc:pglite:file:<directory>');
  if (location.startsWith('//')) {
    return refuse(
      'the directory of the URL starts with "//"',
      'write jdbc:pglite:file:./directory or jdbc:pglite:file:/directory',
    );
  }
  const url: PgliteUrl = { kind: 'pglite', storage, location: resolve(baseDirectory, location) };
  return { url };
}

function parsePgliteMemory(name: string): JdbcUrlResult {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(name)) {
    return refuse(
      'the name of the in-memory database is missing or malformed',
      'up to 63 letters, digits, dots, hyphens and underscores',
    );
  }
  return { url: { kind: 'pglite', storage: 'mem', location: name } };
}
