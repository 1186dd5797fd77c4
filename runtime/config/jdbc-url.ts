import { isIP, isIPv4, isIPv6 } from 'node:net';
import { resolve } from 'node:path';
import { parseJdbcParameters } from './jdbc-parameters.js';
import type { Mistake } from './problems.js';
import { didYouMean } from './suggest.js';
import type { DatabaseUrl } from './types.js';

const POSTGRES_FORM = 'jdbc:postgresql://host:port/database';
const PGLITE_FORM = 'jdbc:pglite:file:<directory> or jdbc:pglite:mem:<name>';
const DEFAULT_PORT = 5_432;
const MAXIMUM_PORT = 65_535;
/** PostgreSQL silently truncates longer names. */
const MAXIMUM_DATABASE_BYTES = 63;

/** A parsed JDBC URL, or all its mistakes. */
export type JdbcUrlResult = { readonly url: DatabaseUrl } | { readonly mistakes: readonly Mistake[] };

/** A rule, and the mistake if it is broken. */
type Rule = readonly [broken: boolean, message: string, hint?: string];

/** The mistake of the first broken rule, as a list of one; empty if all hold. */
function firstBroken(...rules: readonly Rule[]): readonly Mistake[] {
  return rules.flatMap(([broken, message, hint]) => (broken ? [{ message, hint }] : [])).slice(0, 1);
}

/**
 * Parses a JDBC URL strictly, without guessing or ignoring any part. Messages never quote the URL, because it may
 * contain a password by mistake.
 *
 * @param baseDirectory folder against which relative paths (`jdbc:pglite:file:`, `sslrootcert`, `sslcert`, `sslkey`)
 *   are resolved
 */
export function parseJdbcUrl(text: string, baseDirectory: string): JdbcUrlResult {
  const [, subprotocol = '', rest = ''] = /^jdbc:([^:/]*):?(.*)$/su.exec(text) ?? [];
  const isKnown = /^[a-z][a-z0-9]{0,15}$/.test(subprotocol);
  const similar = isKnown ? didYouMean(subprotocol, ['postgresql', 'pglite']) : undefined;
  const mistakes = firstBroken(
    [/[\p{Cc}\p{Cs}]/u.test(text), 'the URL contains a control character'],
    [
      !text.startsWith('jdbc:'),
      'the URL must start with "jdbc:"',
      `write ${POSTGRES_FORM}, or ${PGLITE_FORM}`,
    ],
    [
      subprotocol !== 'postgresql' && subprotocol !== 'pglite',
      isKnown ? `jdbc:${subprotocol} is not supported` : 'the kind of database is not supported',
      similar ?? 'only jdbc:postgresql and jdbc:pglite are supported',
    ],
  );
  if (mistakes.length > 0) return { mistakes };
  return subprotocol === 'pglite' ? parsePglite(rest, baseDirectory) : parsePostgres(rest, baseDirectory);
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

/** Equal for two URLs of the same database. Never printed: it may contain values from the environment. */
export function databaseKey(url: DatabaseUrl): string {
  if (url.kind === 'pglite') return JSON.stringify([url.kind, url.storage, url.location]);
  return JSON.stringify([url.kind, url.host.toLowerCase(), url.port, url.database]);
}

function parsePostgres(rest: string, baseDirectory: string): JdbcUrlResult {
  const [, authority = '', path = '', query] = /^\/\/([^/?]*)([^?]*)(?:\?(.*))?$/su.exec(rest) ?? [];
  const mistakes = firstBroken(
    [!rest.startsWith('//'), 'the URL names no host', `write ${POSTGRES_FORM}`],
    [
      rest.includes('@'),
      'the URL contains credentials',
      'use the keys username and password; write %40 for an @ in a name',
    ],
    [/\s/u.test(rest), 'the URL contains a space', 'write %20 for a space in a name'],
    [rest.includes('#'), 'the URL contains a "#"', 'write %23 for a # in a name'],
  );
  if (mistakes.length > 0) return { mistakes };
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/su.exec(authority);
  const [, host = '', port = String(DEFAULT_PORT)] =
    bracketed ?? /^([^:]*)(?::(.*))?$/su.exec(authority) ?? [];
  const database = decoded(path.slice(1));
  const parameters = parseJdbcParameters(query, baseDirectory);
  const found = [
    ...addressMistakes(authority, { host, port, isBracketed: bracketed !== null }),
    ...databaseMistakes(path.slice(1), database),
    ...('mistakes' in parameters ? parameters.mistakes : []),
  ];
  if (found.length > 0 || 'mistakes' in parameters) return { mistakes: found };
  return { url: { kind: 'postgresql', host, port: Number(port), database: database ?? '', ...parameters } };
}

function addressMistakes(
  authority: string,
  {
    host,
    port,
    isBracketed,
  }: { readonly host: string; readonly port: string; readonly isBracketed: boolean },
): readonly Mistake[] {
  return firstBroken(
    [authority.includes(','), 'the URL names several hosts', 'a shard is one database on one host'],
    [
      !authority.startsWith('[') && authority.split(':').length > 2,
      'the URL has more than one ":" in its host and port',
      'put an IPv6 address in brackets',
    ],
    [host === '', 'the URL names no host', `write ${POSTGRES_FORM}`],
    [
      !(isBracketed ? isIPv6(host) && !host.includes('%') : isHostName(host)),
      'the host of the URL is not a host name or an address',
      'put an IPv6 address in brackets, and letters other than a-z in their xn-- form',
    ],
    [
      !/^[1-9][0-9]{0,4}$/.test(port) || Number(port) > MAXIMUM_PORT,
      `the port of the URL must be from 1 to ${MAXIMUM_PORT}`,
    ],
  );
}

/** Underscores are invalid in host names, but container networks use them. */
function isHostName(host: string): boolean {
  if (/^[0-9.]+$/.test(host)) return isIPv4(host);
  const isLabel = (label: string): boolean =>
    /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/.test(label);
  return isIP(host) === 0 && host.length <= 253 && host.split('.').every(isLabel);
}

function databaseMistakes(encoded: string, name: string | undefined): readonly Mistake[] {
  return firstBroken(
    [encoded === '', 'the URL names no database', `write ${POSTGRES_FORM}`],
    [encoded.includes('/'), 'the URL has more than one "/" after the host', 'write %2F for a / in a name'],
    [
      name === undefined,
      'the percent-encoding of the database name is broken',
      'write %25 for a percent sign',
    ],
    [name?.includes('\0') === true, 'the name of the database contains a NUL character'],
    [
      Buffer.byteLength(name ?? '') > MAXIMUM_DATABASE_BYTES,
      `the name of the database is longer than ${MAXIMUM_DATABASE_BYTES} bytes`,
    ],
  );
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function parsePglite(rest: string, baseDirectory: string): JdbcUrlResult {
  const [, storage = '', location = ''] = /^(file|mem):(.*)$/su.exec(rest) ?? [];
  const isFile = storage === 'file';
  const mistakes = firstBroken(
    [storage === '', 'a URL of the embedded database must say file: or mem:', `write ${PGLITE_FORM}`],
    [location.includes('?'), 'a URL of the embedded database takes no parameters'],
    [isFile && location === '', 'the URL names no directory', 'write jdbc:pglite:file:<directory>'],
    [
      isFile && location.startsWith('//'),
      'the directory of the URL starts with "//"',
      'write jdbc:pglite:file:./directory or jdbc:pglite:file:/directory',
    ],
    [
      !isFile && !/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(location),
      'the name of the in-memory database is missing or malformed',
      'up to 63 letters, digits, dots, hyphens and underscores',
    ],
  );
  if (mistakes.length > 0) return { mistakes };
  const url: DatabaseUrl = isFile
    ? { kind: 'pglite', storage: 'file', location: resolve(baseDirectory, location) }
    : { kind: 'pglite', storage: 'mem', location };
  return { url };
}
