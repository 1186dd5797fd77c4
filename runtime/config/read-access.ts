import * as keys from './key-catalogue.js';
import type { SectionReader } from './section-reader.js';
import type { AccessConfig, JwtConfig, TenancyConfig } from './types.js';

/** Reads `fw.access`. */
export function readAccess(fw: SectionReader): AccessConfig {
  const section = fw.section(keys.access);
  return {
    default: section?.choice(keys.accessDefault) ?? keys.accessDefault.default,
    jwt: section && readJwt(section),
    apiKeys: section?.boolean(keys.accessApiKeys) ?? keys.accessApiKeys.default,
    clientCertificates: section?.choice(keys.accessClientCertificates) ?? 'off',
    tenancy: section && readTenancy(section),
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
  const text = section.text(keys.tenancyUnrestricted);
  const [, name, value] = /^([^=]+)=(.+)$/.exec(text ?? '') ?? [];
  if (name !== undefined && value !== undefined) return { claim, unrestricted: { claim: name, value } };
  const place = section.locate(keys.tenancyUnrestricted)?.place;
  if (place !== undefined)
    section.context.problems.add(place, {
      message: 'must be a claim and its value',
      hint: 'write role=operator',
    });
  return { claim, unrestricted: undefined };
}

function readJwt(access: SectionReader): JwtConfig | undefined {
  const section = access.section(keys.accessJwt);
  const issuer = section?.text(keys.jwtIssuer);
  const audience = section?.text(keys.jwtAudience);
  // The missing keys have been reported.
  if (section === undefined || issuer === undefined || audience === undefined) return undefined;
  return {
    issuer,
    audience,
    jwksUrl: section.text(keys.jwksUrl),
    algorithms: section.choices(keys.jwtAlgorithms),
    clockToleranceMs: section.integer(keys.jwtClockToleranceMs) ?? keys.jwtClockToleranceMs.default,
    keepMs: section.integer(keys.jwtKeepMs) ?? keys.jwtKeepMs.default,
    rememberedTokens: section.integer(keys.jwtRememberedTokens) ?? keys.jwtRememberedTokens.default,
    claims: listOf(section.text(keys.jwtClaims)),
  };
}

function listOf(text: string | undefined): readonly string[] {
  return (text ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}
