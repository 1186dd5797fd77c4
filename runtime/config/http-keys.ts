import type { DefiniteKey } from './key.js';
import { boolean, choice, integer, path, text, texts } from './kinds.js';
import { implied, section } from './section.js';
import type { FwConfig } from './types.js';

const tls = section<NonNullable<FwConfig['http']['tls']>>({
  doc: 'Serves HTTPS. Changed files are reloaded without a restart.',
  keys: {
    certificate: path('file', {
      main: true,
      required: true,
      doc: 'PEM file with the server certificate, followed by those of intermediate authorities.',
    }),
    key: path('file', {
      main: true,
      required: true,
      doc: 'PEM file with the unencrypted private key of the certificate.',
    }),
    clientAuthorities: path('file', {
      doc: 'PEM file with the authorities whose client certificates are trusted. Default: the server requests no client certificates.',
    }),
    clientCertificates: choice(['optional', 'required'], {
      default: 'optional',
      doc: 'With `client-authorities`: whether a client without a trusted certificate may connect.',
    }),
    strictTransportSeconds: integer(0, 63_072_000, {
      default: 31_536_000,
      doc: 'Time for which browsers must use HTTPS only (`Strict-Transport-Security`), in seconds. 0 omits the header.',
    }),
  },
  check({ clientCertificates }, at) {
    if (clientCertificates === 'required' && !at.has('clientAuthorities'))
      at.report('clientCertificates', 'needs client-authorities: without them, any client may connect');
  },
});

const cors = section<NonNullable<FwConfig['http']['cors']>>({
  doc: 'Origins whose pages may call the server from a browser (CORS). Default: none.',
  keys: {
    origins: texts({
      main: true,
      maximum: 100,
      maximumLength: 512,
      doc: 'Allowed origins, such as `https://app.example`. `*` allows every origin.',
      check: (origin) =>
        origin === '*' || (URL.canParse(origin) && new URL(origin).origin === origin)
          ? undefined
          : {
              message: 'is not an origin',
              hint: 'write only scheme, host and port, as browsers send them: https://app.example',
            },
    }),
    credentials: boolean({
      default: false,
      doc: 'Whether browsers send cookies and client certificates with these requests. Not allowed with the origin `*`.',
    }),
  },
  check({ origins, credentials }, at) {
    if (credentials === true && origins?.includes('*') === true)
      at.report('origins', 'must not contain *, because credentials is true');
  },
});

/** `fw.http` */
export const http: DefiniteKey<FwConfig['http']> = implied(
  section<FwConfig['http']>({
    doc: 'TLS, cross-origin requests and facts about the API.',
    keys: {
      tls,
      cors,
      contact: text(256, {
        doc: 'Whom callers may ask, in the API document: a name, an e-mail address or a URL. Default: none.',
      }),
      license: text(128, {
        doc: 'Terms of use in the API document: an SPDX identifier (`Apache-2.0`), or any other name. Default: none.',
      }),
    },
  }),
);
