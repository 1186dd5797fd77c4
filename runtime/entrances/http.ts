/** The package's `./http` entrance: the server, who calls it, and routes of your own. */

export { type ApiKey, ApiKeyStore, type StoredApiKey } from '../access/api-key-store.js';
export { apiKeys } from '../access/api-keys.js';
export {
  type Authenticator,
  CredentialMissing,
  firstOf,
  fixedPrincipal,
  type RequestHead,
} from '../access/authenticator.js';
export { clientCertificates } from '../access/client-certificates.js';
export type { AuthenticatorFactory } from '../access/configured.js';
export { developmentToken } from '../access/development-token.js';
export type { KeyTimes } from '../access/issuer-keys.js';
export { type JwtOptions, jwt } from '../access/jwt.js';
export type { CallerLimits } from '../access/request-limits.js';
export { IssuerUnavailableError } from '../errors.js';
export { readParams } from '../http/input/read-params.js';
export type { HttpLimits } from '../http/limits.js';
export { type Problem, problemOf } from '../http/problem.js';
export type { ProblemKind } from '../http/problem-kinds.js';
export type { RouteDescriptor } from '../http/route.js';
export type { RouteTools } from '../http/route-tools.js';
export { type CustomRoutes, type ServerPlugin, withOptions } from '../http/server-plugin.js';
export type { ApiInfo } from '../openapi/document.js';
export type { DocumentedRoute } from '../openapi/documented-route.js';
export {
  type RunningServer,
  type ServeOptions,
  type ServerTools,
  type ServeSettings,
  serve,
} from '../serve.js';
