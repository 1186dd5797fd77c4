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
  doc: 'What becomes of a request to a route whose action has no rule (`@Allow`). `deny` answers 403.',
};

export const jwtIssuer: TextKey = {
  kind: 'text',
  name: 'issuer',
  required: true,
  maximumLength: 512,
  doc: '`iss` of every token.',
};

export const jwtAudience: TextKey = {
  kind: 'text',
  name: 'audience',
  required: true,
  maximumLength: 512,
  doc: '`aud` of every token, or one of its audiences.',
};

export const jwksUrl: TextKey = {
  kind: 'text',
  name: 'jwksUrl',
  maximumLength: 1_024,
  doc: 'Where the issuer publishes its keys. Default: `.well-known/jwks.json` below the issuer.',
};

export const jwtAlgorithms: ChoicesKey<JwtAlgorithm> = {
  kind: 'choices',
  name: 'algorithms',
  choices: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'],
  doc: 'Algorithms of signatures. Without it, or empty: `RS256`, `PS256`, `ES256` and `EdDSA`.',
};

export const jwtClockToleranceMs: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'clockToleranceMs',
  minimum: 0,
  maximum: 300_000,
  default: 5_000,
  doc: 'By how much the clocks of the issuer and of this process may differ, in milliseconds.',
};

export const jwtKeepMs: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'keepMs',
  minimum: 0,
  maximum: 7 * 24 * HOUR,
  default: HOUR,
  doc: 'How long the last keys of the issuer are used while it does not answer, in milliseconds.',
};

export const jwtClaims: TextKey = {
  kind: 'text',
  name: 'claims',
  maximumLength: 1_024,
  doc: 'Claims of the token that the principal gets, separated by commas. Default: none.',
};

export const accessJwt: SectionKey = {
  kind: 'section',
  name: 'jwt',
  doc: 'Callers prove who they are by JSON Web Tokens of this issuer.',
  keys: [jwtIssuer, jwtAudience, jwksUrl, jwtAlgorithms, jwtClockToleranceMs, jwtKeepMs, jwtClaims],
};

export const accessApiKeys: BooleanKey = {
  kind: 'boolean',
  name: 'apiKeys',
  default: false,
  doc: 'Whether callers may prove who they are by API keys (`fw-gen keys create`).',
};

export const requestsPerSecond: IntegerKey = {
  kind: 'integer',
  name: 'requestsPerSecond',
  minimum: 1,
  maximum: 1_000_000,
  doc: 'Requests per second that one principal may make to one route of one process in the long run; more are answered with 429. Without it there is no limit.',
};

export const burst: IntegerKey = {
  kind: 'integer',
  name: 'burst',
  minimum: 1,
  maximum: 1_000_000,
  doc: 'Requests that a principal may make at once after a pause. Default: `requests-per-second`.',
};

export const concurrentRequests: IntegerKey = {
  kind: 'integer',
  name: 'concurrentRequests',
  minimum: 1,
  maximum: 100_000,
  doc: 'Requests of one principal that one process works on at a time; more are answered with 429. Without it there is no limit.',
};

export const hosts: TextKey = {
  kind: 'text',
  name: 'hosts',
  maximumLength: 4_096,
  doc: 'Names that the `Host` header may have, without port, separated by commas; others are answered with 421. Default: any.',
};

export const access: SectionKey = {
  kind: 'section',
  name: 'access',
  doc: 'Who may call, and how much. Ways to authenticate that stand here take the place of the `authenticator` in code.',
  keys: [accessDefault, accessJwt, accessApiKeys, requestsPerSecond, burst, concurrentRequests, hosts],
};
