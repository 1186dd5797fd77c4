/** The package's `./http` entrance: the server, who calls it, and routes of your own. */

export { type ApiKey, ApiKeyStore, type NewApiKey, type StoredApiKey } from '../access/api-key-store.js';
export { type ApiKeyOptions, apiKeys } from '../access/api-keys.js';
export {
  type Authenticator,
  CredentialMissing,
  firstOf,
  fixedPrincipal,
  type RequestHead,
} from '../access/authenticator.js';
export {
  type CertificateName,
  type ClientCertificateOptions,
  clientCertificates,
} from '../access/client-certificates.js';
export type { AuthenticatorContext, AuthenticatorFactory } from '../access/configured.js';
export { type DevelopmentTokenOptions, developmentToken } from '../access/development-token.js';
export type { KeyTimes, LoadKeys } from '../access/issuer-keys.js';
export { type JwtOptions, jwt } from '../access/jwt.js';
export type { CallerLimits } from '../access/request-limits.js';
export { IssuerUnavailableError } from '../errors.js';
export type { HttpLimits } from '../http/limits.js';
export type { ApplicationProblems, ProblemKind } from '../http/problem-kinds.js';
export type { RouteDescriptor } from '../http/route.js';
export type { RouteExecution, RouteTools } from '../http/route-tools.js';
export { type AnyPlugin, type CustomRoutes, type ServerPlugin, withOptions } from '../http/server-plugin.js';
export type { ApiInfo } from '../openapi/document.js';
export type { SecurityScheme, SecuritySchemes } from '../openapi/documented-access.js';
export type { DocumentedRoute } from '../openapi/documented-route.js';
export {
  type RunningServer,
  type ServeOptions,
  type ServerTools,
  type ServeSettings,
  serve,
} from '../serve.js';
