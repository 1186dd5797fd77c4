import type { DefiniteKey } from './key.js';
import { boolean, choice, claimValue, integer, type TextCheck, text, words } from './kinds.js';
import { implied, section } from './section.js';
import { hasCredentials, shownUrl } from './shown-url.js';
import type { AccessConfig } from './types.js';

/** `fetch` refuses a URL with credentials, in a message that contains them. */
const withoutCredentials: TextCheck = (url) =>
  hasCredentials(url)
    ? {
        message: 'must not contain credentials',
        hint: 'key sets are public: remove the user and the password from the URL',
      }
    : undefined;

const webUrl: TextCheck = (url) =>
  /^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')
    ? withoutCredentials(url)
    : { message: 'must be a URL of HTTP', hint: 'such as https://login.example/keys.json' };

const jwt = section<NonNullable<AccessConfig['jwt']>>({
  doc: 'Authenticates callers by JSON Web Tokens of this issuer.',
  keys: {
    issuer: text(512, {
      main: true,
      required: true,
      check: withoutCredentials,
      doc: 'Required `iss` claim of every token.',
    }),
    audience: text(512, {
      main: true,
      required: true,
      doc: 'Required `aud` claim, or one of the audiences in it.',
    }),
    jwksUrl: text(1_024, {
      check: webUrl,
      shown: shownUrl,
      doc: 'URL of the key set (JWKS) of the issuer. Default: `.well-known/jwks.json` below the issuer.',
    }),
    claims: words(1_024, {
      doc: 'Token claims that are copied to the principal, separated by commas. Default: none.',
    }),
  },
});

const tenancy = section<NonNullable<AccessConfig['tenancy']>>({
  doc: 'Callers reach only the groups of shards that a claim names, whatever ids they send.',
  keys: {
    claim: text(128, {
      required: true,
      doc: 'Claim with the name of the group that a caller may reach, or a list of names. A caller without it reaches no group.',
    }),
    unrestricted: claimValue(256, {
      doc: 'Callers who reach every group: a claim and its value, `role=operator`. Default: none.',
    }),
  },
});

/** `fw.access` */
export const access: DefiniteKey<AccessConfig> = implied(
  section<AccessConfig>({
    doc: 'Authentication, authorization and rate limits. Authentication configured here replaces the `authenticator` in code.',
    keys: {
      default: choice(['allow', 'deny'], {
        main: true,
        default: 'allow',
        doc: 'How a route whose action has no rule (`@Allow`) is treated. `deny` answers 403.',
      }),
      jwt,
      apiKeys: boolean({
        main: true,
        default: false,
        doc: 'Whether API keys (`fw-gen keys create`) authenticate callers.',
      }),
      clientCertificates: choice(['off', 'common-name', 'dns', 'uri', 'email'], {
        default: 'off',
        doc: 'Which name of a client certificate is the principal. The last three are subject alternative names. Needs `fw.http.tls.client-authorities`.',
      }),
      tenancy,
      operators: claimValue(256, {
        doc: 'Callers to whom `/health/ready` shows why a shard is down, and who may read `/operate` and `/operate/history/<id>`: a claim and its value, `role=operator`. Default: none.',
      }),
      requestsPerSecond: integer(1, 1_000_000, {
        main: true,
        doc: 'Sustained requests per second of one principal to one route, in each process; excess requests get 429. Default: no limit.',
      }),
      sharedLimits: boolean({
        default: false,
        doc: 'Whether all processes count `requests-per-second` together, on the default shard. While it does not answer, each process counts alone.',
      }),
      concurrentRequests: integer(1, 100_000, {
        doc: 'Concurrent requests of one principal in one process; excess requests get 429. Default: no limit.',
      }),
      hosts: words(4_096, {
        doc: 'Accepted `Host` header names, without port, separated by commas; others get 421. Default: any.',
      }),
    },
    check({ jwt, tenancy, sharedLimits }, at) {
      const claims = [tenancy?.claim, tenancy?.unrestricted?.claim];
      const isComplete = jwt !== undefined && tenancy !== undefined && at.isClean('jwt');
      if (isComplete && !jwt.claims.some((claim) => claims.includes(claim)))
        at.report(
          'tenancy',
          'names a claim that jwt.claims does not copy: no caller with a token would reach any group',
        );
      if (!at.has('requestsPerSecond') && sharedLimits === true)
        at.report('sharedLimits', 'needs requests-per-second: without it, requests are not limited');
    },
  }),
);
