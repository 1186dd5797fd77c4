import type { AccessConfig } from '../config/types.js';
import type { JsonObject } from '../domain/json.js';
import type { DocumentedRoute } from './documented-route.js';

/** Security scheme objects of OpenAPI 3.1 by their names in the document. A caller needs one of them. */
export type SecuritySchemes = Readonly<Record<string, JsonObject>>;

/** Scheme of JSON Web Tokens. */
export const TOKEN_SCHEMES: SecuritySchemes = {
  token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
};

/** Scheme of API keys. */
export const API_KEY_SCHEMES: SecuritySchemes = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description: '`Authorization: Bearer` takes an API key as well.',
  },
};

/** Scheme of client certificates. */
export const CERTIFICATE_SCHEMES: SecuritySchemes = { clientCertificate: { type: 'mutualTLS' } };

/** Documented requirements for callers. */
export interface DocumentedAccess {
  /** Empty: callers need no credentials. */
  readonly schemes: SecuritySchemes;
  /** Whether routes are refused if their actions have no rule. */
  readonly deniesByDefault: boolean;
  /** Whether callers reach only some groups of shards. */
  readonly limitsReach: boolean;
  /** Whether requests per caller are limited. */
  readonly limitsCallers: boolean;
  /** Whether the server answers only for some hosts. */
  readonly checksHosts: boolean;
}

/** No requirements. */
export const OPEN_ACCESS: DocumentedAccess = {
  schemes: {},
  deniesByDefault: false,
  limitsReach: false,
  limitsCallers: false,
  checksHosts: false,
};

/**
 * The configuration's requirements for callers. As in the server, the configuration takes precedence: the code's
 * requirements replace only `OPEN_ACCESS`.
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

/** Statuses of refusals that depend on the caller. */
export type AccessStatus = 401 | 403 | 421 | 429;

/** Those with which a route may answer. */
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
