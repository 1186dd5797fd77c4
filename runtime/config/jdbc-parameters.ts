import type { Mistake } from './problems.js';
import { didYouMean } from './suggest.js';
import type { ClientCertificate, PostgresUrl } from './types.js';

type SslMode = PostgresUrl['sslMode'];

const SSL_MODES: readonly SslMode[] = ['disable', 'require', 'verify-full'];
const PARAMETERS: readonly string[] = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'];
const CREDENTIALS: readonly string[] = ['user', 'username', 'password', 'pass', 'pwd', 'sslpassword'];

/** Parameters of other drivers, with our equivalents. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  ssl: 'use sslmode=verify-full',
  ApplicationName: 'use the key application-name',
  connectTimeout: 'use the key connect-timeout-ms',
  loginTimeout: 'use the key connect-timeout-ms',
  socketTimeout: 'use the key statement-timeout-ms',
};

/** SSL modes of other drivers that are refused, with the reasons. */
const REFUSED_SSL_MODES: Readonly<Record<string, string>> = {
  allow: 'it silently falls back to the other mode; use disable, require or verify-full',
  prefer: 'it silently falls back to an unencrypted connection; use disable, require or verify-full',
  'verify-ca': 'it accepts the certificate of any host; use verify-full',
};

/** The parameters in the query of a PostgreSQL URL. */
export interface JdbcParameters {
  readonly sslMode: SslMode;
  readonly sslRootCert: string | undefined;
  readonly clientCertificate: ClientCertificate | undefined;
  readonly mistakes: readonly Mistake[];
}

/** Reads `sslmode=...&sslrootcert=...`; every other, repeated or empty parameter is a mistake. */
export function parseJdbcParameters(query: string | undefined): JdbcParameters {
  const pairs = query === undefined ? [] : query.split('&').map(splitPair);
  const failed = (mistakes: readonly Mistake[]): JdbcParameters => ({
    sslMode: 'disable',
    sslRootCert: undefined,
    clientCertificate: undefined,
    mistakes,
  });
  if (pairs.some(({ name }) => CREDENTIALS.includes(name.toLowerCase()))) {
    // No other mistake is reported, because the rest of the text may be part of the password.
    return failed([{ message: 'the URL contains credentials', hint: 'use the keys username and password' }]);
  }
  const values = new Map<string, string>();
  const mistakes: Mistake[] = [];
  for (const { name, value } of pairs) {
    const mistake = pairMistake(name, value, values);
    if (mistake !== undefined) mistakes.push(mistake);
    else values.set(name, value ?? '');
  }
  if (mistakes.length > 0) return failed(mistakes);
  return combine(values);
}

function splitPair(text: string): { readonly name: string; readonly value: string | undefined } {
  const equals = text.indexOf('=');
  if (equals === -1) return { name: text, value: undefined };
  return { name: text.slice(0, equals), value: decode(text.slice(equals + 1)) };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function pairMistake(
  name: string,
  value: string | undefined,
  values: ReadonlyMap<string, string>,
): Mistake | undefined {
  if (!PARAMETERS.includes(name)) return unknownParameter(name);
  if (values.has(name)) return { message: `the URL gives ${name} twice` };
  if (value === undefined || value === '')
    return { message: `the parameter ${name} of the URL has an invalid value` };
  return undefined;
}

function unknownParameter(name: string): Mistake {
  const supported = 'supported are sslmode, sslrootcert, sslcert and sslkey';
  if (!/^[A-Za-z][A-Za-z0-9_.-]{0,40}$/.test(name)) {
    return { message: 'the URL has a malformed parameter', hint: supported };
  }
  const elsewhere = Object.hasOwn(ELSEWHERE, name) ? ELSEWHERE[name] : undefined;
  return {
    message: `unknown parameter ${name} in the URL`,
    hint: elsewhere ?? didYouMean(name, PARAMETERS) ?? supported,
  };
}

function combine(values: ReadonlyMap<string, string>): JdbcParameters {
  const [mode, sslRootCert] = [values.get('sslmode'), values.get('sslrootcert')];
  const [certificate, key] = [values.get('sslcert'), values.get('sslkey')];
  const sslMode = mode === undefined ? 'disable' : SSL_MODES.find((known) => known === mode);
  const mistakes: Mistake[] = [];
  if (mode !== undefined && sslMode === undefined) mistakes.push(unknownSslMode(mode));
  if (sslMode !== undefined && sslMode !== 'verify-full' && sslRootCert !== undefined) {
    mistakes.push({
      message: `sslrootcert has no effect with sslmode=${sslMode}`,
      hint: 'use sslmode=verify-full',
    });
  }
  if (sslMode === 'disable' && (certificate ?? key) !== undefined) {
    mistakes.push({
      message: 'sslcert and sslkey have no effect without TLS',
      hint: 'use sslmode=verify-full',
    });
  }
  if ((certificate === undefined) !== (key === undefined)) {
    const missing = key === undefined ? 'sslkey' : 'sslcert';
    mistakes.push({ message: `the URL gives no ${missing}`, hint: 'set both sslcert and sslkey' });
  }
  const clientCertificate = certificate === undefined || key === undefined ? undefined : { certificate, key };
  return { sslMode: sslMode ?? 'disable', sslRootCert, clientCertificate, mistakes };
}

function unknownSslMode(mode: string): Mistake {
  const refused = Object.hasOwn(REFUSED_SSL_MODES, mode) ? REFUSED_SSL_MODES[mode] : undefined;
  if (refused !== undefined) return { message: `sslmode=${mode} is not supported`, hint: refused };
  return {
    message: 'sslmode must be disable, require or verify-full',
    hint: didYouMean(mode, SSL_MODES),
  };
}
