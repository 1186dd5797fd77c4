import * as keys from './key-catalogue.js';
import type { SectionReader } from './section-reader.js';
import type { AccessConfig, CorsConfig, HttpConfig, TlsConfig } from './types.js';

/** Reads `fw.http`. */
export function readHttp(fw: SectionReader, { clientCertificates }: AccessConfig): HttpConfig {
  const section = fw.section(keys.http);
  const tls = section && readTls(section);
  if (clientCertificates !== 'off' && tls?.clientAuthorities === undefined)
    fw.context.problems.add(fw.locate(keys.access)?.place ?? fw.place, {
      message: 'client-certificates needs fw.http.tls.client-authorities',
      hint: 'name the file with the authorities that sign the certificates of callers',
    });
  return {
    tls,
    cors: section && readCors(section),
    contact: section?.text(keys.httpContact),
    license: section?.text(keys.httpLicense),
  };
}

function readTls(http: SectionReader): TlsConfig | undefined {
  const section = http.section(keys.httpTls);
  const certificate = section?.folder(keys.tlsCertificate);
  const key = section?.folder(keys.tlsKey);
  // The missing keys have been reported.
  if (section === undefined || certificate === undefined || key === undefined) return undefined;
  return {
    certificate,
    key,
    clientAuthorities: section.folder(keys.tlsClientAuthorities),
    clientCertificates: section.choice(keys.tlsClientCertificates),
    strictTransportSeconds: section.integer(keys.strictTransportSeconds),
  };
}

function readCors(http: SectionReader): CorsConfig | undefined {
  const section = http.section(keys.httpCors);
  if (section === undefined) return undefined;
  const origins = section.texts(keys.corsOrigins);
  const place = section.locate(keys.corsOrigins)?.place ?? section.place;
  const { problems } = section.context;
  for (const origin of origins) {
    if (origin !== '*' && !isOrigin(origin))
      problems.add(place, {
        message: `${JSON.stringify(origin)} is not an origin`,
        hint: 'write only scheme, host and port, as browsers send them: https://app.example',
      });
  }
  const credentials = section.boolean(keys.corsCredentials);
  if (credentials && origins.includes('*'))
    problems.add(place, { message: 'must not contain *, because credentials is true' });
  return { origins, credentials, maxAgeSeconds: section.integer(keys.corsMaxAgeSeconds) };
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}
