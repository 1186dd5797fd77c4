import type { AccessConfig } from '../config/types.js';
import { defined } from '../domain/defined.js';
import { ValidationError } from '../errors.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { ApiKeyStore } from './api-key-store.js';
import { apiKeys } from './api-keys.js';
import { type Authenticator, firstOf } from './authenticator.js';
import { clientCertificates } from './client-certificates.js';
import { jwt } from './jwt.js';

/** The objects from which an authenticator may be created. */
interface AuthenticatorContext {
  /** The API keys of the application. */
  readonly apiKeys: ApiKeyStore;
}

/** Creates an authenticator that needs the databases. */
export interface AuthenticatorFactory {
  readonly create: (context: AuthenticatorContext) => Authenticator;
}

/** The authenticator of a server: that of the configuration, else that of the code. @throws ValidationError without one */
export function authenticatorOf(
  { jwt: tokens, apiKeys: takesKeys, clientCertificates: name }: AccessConfig,
  inCode: Authenticator | AuthenticatorFactory | undefined,
  databases: Pick<DatabaseRegistry, 'database' | 'defaultShard'>,
): Authenticator {
  const store = new ApiKeyStore(databases.database(databases.defaultShard));
  // A token takes precedence over the connection's certificate, which may be that of a proxy.
  const configured: Authenticator[] = [];
  if (takesKeys) configured.push(apiKeys({ store }));
  if (tokens !== undefined) {
    const { jwksUrl, ...rest } = tokens;
    configured.push(jwt({ ...rest, ...defined({ jwksUrl }) }));
  }
  if (name !== 'off') configured.push(clientCertificates({ name }));
  const [first, ...others] = configured;
  if (first !== undefined) return firstOf(first, ...others);
  if (inCode === undefined)
    throw new ValidationError(
      'Nothing authenticates callers: pass an authenticator, or configure fw.access.jwt, api-keys or client-certificates',
      { field: 'authenticator' },
    );
  return typeof inCode === 'function' ? inCode : inCode.create({ apiKeys: store });
}
