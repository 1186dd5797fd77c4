import type {
  BooleanKey,
  ChoiceKey,
  ChoicesKey,
  DefaultedIntegerKey,
  IntegerKey,
  SectionKey,
  TextKey,
} from './keys.js';
import type { JwtAlgorithm } from './types.js';

const HOUR = 3_600_000;

export const accessDefault: ChoiceKey<'allow' | 'deny'> = {
  kind: 'choice',
  name: 'default',
  choices: ['allow', 'deny'],
  default: 'allow',
  doc: 'How a route whose action has no rule (`@Allow`) is treated. `deny` answers 403.',
};

export const jwtIssuer: TextKey = {
  kind: 'text',
  name: 'issuer',
  required: true,
  maximumLength: 512,
  doc: 'Required `iss` claim of every token.',
};

export const jwtAudience: TextKey = {
  kind: 'text',
  name: 'audience',
  required: true,
  maximumLength: 512,
  doc: 'Required `aud` claim, or one of the audiences in it.',
};

export const jwksUrl: TextKey = {
  kind: 'text',
  name: 'jwksUrl',
  maximumLength: 1_024,
  doc: 'URL of the key set (JWKS) of the issuer. Default: `.well-known/jwks.json` below the issuer.',
};

export const jwtAlgorithms: ChoicesKey<JwtAlgorithm> = {
  kind: 'choices',
  name: 'algorithms',
  choices: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'],
  doc: 'Accepted signature algorithms. Default, or when empty: `RS256`, `PS256`, `ES256` and `EdDSA`.',
};

export const jwtClockToleranceMs: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'clockToleranceMs',
  minimum: 0,
  maximum: 300_000,
  default: 5_000,
  doc: 'Tolerated difference between the clocks of the issuer and of this process, in milliseconds.',
};

export const jwtKeepMs: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'keepMs',
  minimum: 0,
  maximum: 7 * 24 * HOUR,
  default: HOUR,
  doc: 'How long cached keys stay in use while the issuer does not answer, in milliseconds.',
};

export const jwtRememberedTokens: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'rememberedTokens',
  minimum: 0,
  maximum: 1_000_000,
  default: 10_000,
  doc: 'Maximum number of verified tokens in the cache, where they stay until they expire or the keys change. 0 verifies the token of every request.',
};

export const jwtClaims: TextKey = {
  kind: 'text',
  name: 'claims',
  maximumLength: 1_024,
  doc: 'Token claims that are copied to the principal, separated by commas. Default: none.',
};

export const accessJwt: SectionKey = {
  kind: 'section',
  name: 'jwt',
  doc: 'Authenticates callers by JSON Web Tokens of this issuer.',
  keys: [
    ...[jwtIssuer, jwtAudience, jwksUrl, jwtAlgorithms, jwtClockToleranceMs, jwtKeepMs],
    ...[jwtRememberedTokens, jwtClaims],
  ],
};

export const accessApiKeys: BooleanKey = {
  kind: 'boolean',
  name: 'apiKeys',
  default: false,
  doc: 'Whether API keys (`fw-gen keys create`) authenticate callers.',
};

export const accessApiKeysKeepMs: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'apiKeysKeepMs',
  minimum: 0,
  maximum: 7 * 24 * HOUR,
  default: HOUR,
  doc: 'How long verified API keys stay in use while the default shard cannot be reached, in milliseconds. Other keys get 503.',
};

export const accessClientCertificates: ChoiceKey<'off' | 'common-name' | 'dns' | 'uri' | 'email'> = {
  kind: 'choice',
  name: 'clientCertificates',
  choices: ['off', 'common-name', 'dns', 'uri', 'email'],
  default: 'off',
  doc: 'Which name of a client certificate is the principal. The last three are subject alternative names. Needs `fw.http.tls.client-authorities`.',
};

export const tenancyClaim: TextKey = {
  kind: 'text',
  name: 'claim',
  required: true,
  maximumLength: 128,
  doc: 'Claim with the name of the group that a caller may reach, or a list of names. A caller without it reaches no group.',
};

export const tenancyUnrestricted: TextKey = {
  kind: 'text',
  name: 'unrestricted',
  maximumLength: 256,
  doc: 'Callers who reach every group: a claim and its value, `role=operator`. Default: none.',
};

export const accessTenancy: SectionKey = {
  kind: 'section',
  name: 'tenancy',
  doc: 'Callers reach only the groups of shards that a claim names, whatever ids they send.',
  keys: [tenancyClaim, tenancyUnrestricted],
};

export const accessOperators: TextKey = {
  kind: 'text',
  name: 'operators',
  maximumLength: 256,
  doc: 'Callers to whom `/health/ready` shows why a shard is down: a claim and its value, `role=operator`. Default: none.',
};

export const requestsPerSecond: IntegerKey = {
  kind: 'integer',
  name: 'requestsPerSecond',
  minimum: 1,
  maximum: 1_000_000,
  doc: 'Sustained requests per second of one principal to one route, in each process; excess requests get 429. Default: no limit.',
};

export const burst: IntegerKey = {
  kind: 'integer',
  name: 'burst',
  minimum: 1,
  maximum: 1_000_000,
  doc: 'Burst of requests allowed after a pause. Default: `requests-per-second`.',
};

export const sharedLimits: ChoiceKey<'off' | 'lenient' | 'strict'> = {
  kind: 'choice',
  name: 'sharedLimits',
  choices: ['off', 'lenient', 'strict'],
  default: 'off',
  doc: 'Whether all processes count `requests-per-second` together, on the default shard. While it is out of reach, `lenient` has each process count alone, and `strict` answers 503.',
};

export const concurrentRequests: IntegerKey = {
  kind: 'integer',
  name: 'concurrentRequests',
  minimum: 1,
  maximum: 100_000,
  doc: 'Concurrent requests of one principal in one process; excess requests get 429. Default: no limit.',
};

export const hosts: TextKey = {
  kind: 'text',
  name: 'hosts',
  maximumLength: 4_096,
  doc: 'Accepted `Host` header names, without port, separated by commas; others get 421. Default: any.',
};

export const access: SectionKey = {
  kind: 'section',
  name: 'access',
  doc: 'Authentication, authorization and rate limits. Authentication configured here replaces the `authenticator` in code.',
  keys: [
    accessDefault,
    accessJwt,
    accessApiKeys,
    accessApiKeysKeepMs,
    accessClientCertificates,
    accessTenancy,
    accessOperators,
    requestsPerSecond,
    burst,
    sharedLimits,
    concurrentRequests,
    hosts,
  ],
};
