import type { AccessConfig } from '../config/types.js';
import type { JsonValue } from '../domain/json.js';
import type { DocumentedRoute } from './documented-route.js';

/** A security scheme object of OpenAPI 3.1: `{ type: 'http', scheme: 'bearer' }`. */
export type SecurityScheme = { readonly [member: string]: JsonValue };

/** Schemes by their names in the document. A caller needs one of them. */
export type SecuritySchemes = Readonly<Record<string, SecurityScheme>>;

/** What the document says of JSON Web Tokens. */
export const TOKEN_SCHEMES: SecuritySchemes = {
  token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
};

/** What the document says of API keys. */
export const API_KEY_SCHEMES: SecuritySchemes = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description: '`Authorization: Bearer` takes an API key as well.',
  },
};

/** What the document says of client certificates. */
export const CERTIFICATE_SCHEMES: SecuritySchemes = { clientCertificate: { type: 'mutualTLS' } };

/** What the document says of callers. */
export interface DocumentedAccess {
  /** Empty: nothing is asked of callers. */
  readonly schemes: SecuritySchemes;
  /** Routes whose actions have no rule are refused. */
  readonly deniesByDefault: boolean;
  /** Callers reach some groups of shards only. */
  readonly limitsReach: boolean;
  /** Requests per caller are limited. */
  readonly limitsCallers: boolean;
  /** The server answers for some hosts only. */
  readonly checksHosts: boolean;
}

/** Every caller may do everything. */
export const OPEN_ACCESS: DocumentedAccess = {
  schemes: {},
  deniesByDefault: false,
  limitsReach: false,
  limitsCallers: false,
  checksHosts: false,
};

/**
 * What the configuration says of callers. What the code of a server adds takes the place of `OPEN_ACCESS` alone: the
 * configuration wins, as it does in the server.
 */
export function documentedAccess(
  config: AccessConfig,
  inCode: DocumentedAccess = OPEN_ACCESS,
): DocumentedAccess {
  const { requestsPerSecond, concurrentRequests, hosts } = config;
  const schemes = {
    ...(config.apiKeys ? API_KEY_SCHEMES : {}),
    ...(config.jwt && TOKEN_SCHEMES),
    ...(config.clientCertificates === 'off' ? {} : CERTIFICATE_SCHEMES),
  };
  return {
    schemes: Object.keys(schemes).length > 0 ? schemes : inCode.schemes,
    deniesByDefault: config.default === 'deny' || inCode.deniesByDefault,
    limitsReach: config.tenancy !== undefined || inCode.limitsReach,
    limitsCallers:
      requestsPerSecond !== undefined || concurrentRequests !== undefined || inCode.limitsCallers,
    checksHosts: hosts.length > 0 || inCode.checksHosts,
  };
}

/** Statuses of refusals that depend on who calls, and how. */
export type AccessStatus = 401 | 403 | 421 | 429;

/** Those that a route may answer with. */
export function accessStatuses(
  { rule }: DocumentedRoute,
  { schemes, deniesByDefault, limitsReach, limitsCallers, checksHosts }: DocumentedAccess,
): readonly AccessStatus[] {
  const mayForbid = limitsReach || rule === 'some' || (rule === undefined && deniesByDefault);
  return [
    ...(Object.keys(schemes).length > 0 ? [401 as const] : []),
    ...(mayForbid ? [403 as const] : []),
    ...(checksHosts ? [421 as const] : []),
    ...(limitsCallers ? [429 as const] : []),
  ];
}
