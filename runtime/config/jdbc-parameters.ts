import { resolve } from 'node:path';
import type { Mistake } from './problems.js';
import { didYouMean } from './suggest.js';
import type { PostgresUrl } from './types.js';

/** The parameters in the query of a PostgreSQL URL. */
export type JdbcParameters = Pick<PostgresUrl, 'sslMode' | 'sslRootCert' | 'clientCertificate'>;

const SSL_MODES: readonly PostgresUrl['sslMode'][] = ['disable', 'require', 'verify-full'];
const PARAMETERS: readonly string[] = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'];
const CREDENTIALS = /^(user|username|password|pass|pwd|sslpassword)$/i;
const SUPPORTED = 'supported are sslmode, sslrootcert, sslcert and sslkey';

/** Parameters of other drivers, with our equivalents. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['ssl', 'use sslmode=verify-full'],
  ['ApplicationName', 'use the key application-name'],
  ['connectTimeout', 'use the key connect-timeout-ms'],
  ['loginTimeout', 'use the key connect-timeout-ms'],
  ['socketTimeout', 'use the key statement-timeout-ms'],
]);

/** SSL modes of other drivers that are refused, with the reasons. */
const REFUSED_SSL_MODES: ReadonlyMap<string, string> = new Map([
  ['allow', 'it silently falls back to the other mode; use disable, require or verify-full'],
  ['prefer', 'it silently falls back to an unencrypted connection; use disable, require or verify-full'],
  ['verify-ca', 'it accepts the certificate of any host; use verify-full'],
]);

/**
 * Reads `sslmode=...&sslrootcert=...`; every other, repeated or empty parameter is a mistake.
 *
 * @param folder folder against which relative paths are resolved
 */
export function parseJdbcParameters(
  query: string | undefined,
  folder: string,
): JdbcParameters | { readonly mistakes: readonly Mistake[] } {
  const pairs = query === undefined ? [] : query.split('&').map(splitPair);
  // No other mistake is reported, because the rest of the text may be part of the password.
  if (pairs.some(({ name }) => CREDENTIALS.test(name)))
    return {
      mistakes: [{ message: 'the URL contains credentials', hint: 'use the keys username and password' }],
    };
  const values = new Map<string, string>();
  const mistakes: Mistake[] = [];
  for (const { name, value } of pairs) {
    if (!PARAMETERS.includes(name)) mistakes.push(unknownParameter(name));
    else if (values.has(name)) mistakes.push({ message: `the URL gives ${name} twice` });
    else if (!value) mistakes.push({ message: `the parameter ${name} of the URL has an invalid value` });
    else values.set(name, value);
  }
  return mistakes.length > 0 ? { mistakes } : combine(values, folder);
}

/** The value is undefined if it is absent or badly encoded. */
function splitPair(text: string): { readonly name: string; readonly value: string | undefined } {
  const [name = '', ...rest] = text.split('=');
  try {
    return { name, value: decodeURIComponent(rest.join('=')) };
  } catch {
    return { name, value: undefined };
  }
}

function unknownParameter(name: string): Mistake {
  if (!/^[A-Za-z][A-Za-z0-9_.-]{0,40}$/.test(name))
    return { message: 'the URL has a malformed parameter', hint: SUPPORTED };
  const hint = ELSEWHERE.get(name) ?? didYouMean(name, PARAMETERS) ?? SUPPORTED;
  return { message: `unknown parameter ${name} in the URL`, hint };
}

function combine(
  values: ReadonlyMap<string, string>,
  folder: string,
): JdbcParameters | { readonly mistakes: readonly Mistake[] } {
  const mode = values.get('sslmode') ?? 'disable';
  const [sslRootCert, certificate, key] = ['sslrootcert', 'sslcert', 'sslkey'].map((name) => {
    const path = values.get(name);
    return path === undefined ? undefined : resolve(folder, path);
  });
  const sslMode = SSL_MODES.find((known) => known === mode);
  const hint = 'use sslmode=verify-full';
  const mistakes: Mistake[] = [];
  if (sslMode === undefined) mistakes.push(unknownSslMode(mode));
  else if (sslMode !== 'verify-full' && sslRootCert !== undefined)
    mistakes.push({ message: `sslrootcert has no effect with sslmode=${sslMode}`, hint });
  if (sslMode === 'disable' && (certificate ?? key) !== undefined)
    mistakes.push({ message: 'sslcert and sslkey have no effect without TLS', hint });
  if ((certificate === undefined) !== (key === undefined)) {
    const missing = key === undefined ? 'sslkey' : 'sslcert';
    mistakes.push({ message: `the URL gives no ${missing}`, hint: 'set both sslcert and sslkey' });
  }
  if (sslMode === undefined || mistakes.length > 0) return { mistakes };
  const pair = certificate !== undefined && key !== undefined && { clientCertificate: { certificate, key } };
  return { sslMode, sslRootCert, ...pair };
}

function unknownSslMode(mode: string): Mistake {
  const refused = REFUSED_SSL_MODES.get(mode);
  if (refused !== undefined) return { message: `sslmode=${mode} is not supported`, hint: refused };
  return { message: 'sslmode must be disable, require or verify-full', hint: didYouMean(mode, SSL_MODES) };
}
