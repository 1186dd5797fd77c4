import * as keys from './key-catalogue.js';
import type { TextKey } from './keys.js';
import type { SectionReader } from './section-reader.js';
import { hasCredentials } from './shown-url.js';
import type { AccessConfig, JwtConfig, TenancyConfig } from './types.js';

/** Reads `fw.access`. */
export function readAccess(fw: SectionReader): AccessConfig {
  const section = fw.section(keys.access);
  return {
    default: section?.choice(keys.accessDefault) ?? keys.accessDefault.default,
    jwt: section && readJwt(section),
    apiKeys: section?.boolean(keys.accessApiKeys) ?? keys.accessApiKeys.default,
    apiKeysKeepMs: section?.integer(keys.accessApiKeysKeepMs) ?? keys.accessApiKeysKeepMs.default,
    clientCertificates: section?.choice(keys.accessClientCertificates) ?? 'off',
    tenancy: section && readTenancy(section),
    operators: section && claimValue(section, keys.accessOperators),
    requestsPerSecond: section?.integer(keys.requestsPerSecond),
    burst: section?.integer(keys.burst),
    sharedLimits: section?.choice(keys.sharedLimits) ?? keys.sharedLimits.default,
    concurrentRequests: section?.integer(keys.concurrentRequests),
    hosts: listOf(section?.text(keys.hosts)),
  };
}

function readTenancy(access: SectionReader): TenancyConfig | undefined {
  const section = access.section(keys.accessTenancy);
  const claim = section?.text(keys.tenancyClaim);
  // The missing key has been reported.
  if (section === undefined || claim === undefined) return undefined;
  return { claim, unrestricted: claimValue(section, keys.tenancyUnrestricted) };
}

function claimValue(section: SectionReader, key: TextKey): AccessConfig['operators'] {
  const [, claim, value] = /^([^=]+)=(.+)$/.exec(section.text(key) ?? '') ?? [];
  if (claim !== undefined && value !== undefined) return { claim, value };
  const place = section.locate(key)?.place;
  if (place !== undefined)
    section.context.problems.add(place, {
      message: 'must be a claim and its value',
      hint: 'write role=operator',
    });
  return undefined;
}

function readJwt(access: SectionReader): JwtConfig | undefined {
  const section = access.section(keys.accessJwt);
  const issuer = section?.text(keys.jwtIssuer);
  const audience = section?.text(keys.jwtAudience);
  // The missing keys have been reported.
  if (section === undefined || issuer === undefined || audience === undefined) return undefined;
  const jwksUrl = section.text(keys.jwksUrl);
  refuseCredentials(section, keys.jwtIssuer, issuer);
  refuseCredentials(section, keys.jwksUrl, jwksUrl);
  return {
    issuer,
    audience,
    jwksUrl,
    algorithms: section.choices(keys.jwtAlgorithms),
    clockToleranceMs: section.integer(keys.jwtClockToleranceMs) ?? keys.jwtClockToleranceMs.default,
    keepMs: section.integer(keys.jwtKeepMs) ?? keys.jwtKeepMs.default,
    rememberedTokens: section.integer(keys.jwtRememberedTokens) ?? keys.jwtRememberedTokens.default,
    claims: listOf(section.text(keys.jwtClaims)),
  };
}

/** `fetch` refuses a URL with credentials, in a message that contains them. */
function refuseCredentials(section: SectionReader, key: TextKey, text: string | undefined): void {
  const place = section.locate(key)?.place;
  if (place === undefined || !hasCredentials(text)) return;
  section.context.problems.add(place, {
    message: 'must not contain credentials',
    hint: 'key sets are public: remove the user and the password from the URL',
  });
}

function listOf(text: string | undefined): readonly string[] {
  return (text ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}
