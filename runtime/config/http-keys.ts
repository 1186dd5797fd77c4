import type {
  BooleanKey,
  ChoiceKey,
  DefaultedIntegerKey,
  FolderKey,
  SectionKey,
  TextKey,
  TextsKey,
} from './keys.js';

export const tlsCertificate: FolderKey = {
  kind: 'folder',
  target: 'file',
  name: 'certificate',
  required: true,
  doc: 'PEM file with the server certificate, followed by those of intermediate authorities.',
};

export const tlsKey: FolderKey = {
  kind: 'folder',
  target: 'file',
  name: 'key',
  required: true,
  doc: 'PEM file with the unencrypted private key of the certificate.',
};

export const tlsClientAuthorities: FolderKey = {
  kind: 'folder',
  target: 'file',
  name: 'clientAuthorities',
  doc: 'PEM file with the authorities whose client certificates are trusted. Default: the server requests no client certificates.',
};

export const tlsClientCertificates: ChoiceKey<'optional' | 'required'> = {
  kind: 'choice',
  name: 'clientCertificates',
  choices: ['optional', 'required'],
  default: 'optional',
  doc: 'With `client-authorities`: whether a client without a trusted certificate may connect.',
};

export const strictTransportSeconds: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'strictTransportSeconds',
  minimum: 0,
  maximum: 63_072_000,
  default: 31_536_000,
  doc: 'Time for which browsers must use HTTPS only (`Strict-Transport-Security`), in seconds. 0 omits the header.',
};

export const httpTls: SectionKey = {
  kind: 'section',
  name: 'tls',
  doc: 'Serves HTTPS. Changed files are reloaded without a restart.',
  keys: [tlsCertificate, tlsKey, tlsClientAuthorities, tlsClientCertificates, strictTransportSeconds],
};

export const corsOrigins: TextsKey = {
  kind: 'texts',
  name: 'origins',
  maximum: 100,
  maximumLength: 512,
  doc: 'Allowed origins, such as `https://app.example`. `*` allows every origin.',
};

export const corsCredentials: BooleanKey = {
  kind: 'boolean',
  name: 'credentials',
  default: false,
  doc: 'Whether browsers send cookies and client certificates with these requests. Not allowed with the origin `*`.',
};

export const corsMaxAgeSeconds: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'maxAgeSeconds',
  minimum: 0,
  maximum: 86_400,
  default: 600,
  doc: 'Time for which a browser may cache the response to a preflight request, in seconds.',
};

export const httpCors: SectionKey = {
  kind: 'section',
  name: 'cors',
  doc: 'Origins whose pages may call the server from a browser (CORS). Default: none.',
  keys: [corsOrigins, corsCredentials, corsMaxAgeSeconds],
};

export const httpContact: TextKey = {
  kind: 'text',
  name: 'contact',
  maximumLength: 256,
  doc: 'Whom callers may ask, in the API document: a name, an e-mail address or a URL. Default: none.',
};

export const httpLicense: TextKey = {
  kind: 'text',
  name: 'license',
  maximumLength: 128,
  doc: 'Terms of use in the API document: an SPDX identifier (`Apache-2.0`), or any other name. Default: none.',
};

export const http: SectionKey = {
  kind: 'section',
  name: 'http',
  doc: 'TLS, cross-origin requests and facts about the API.',
  keys: [httpTls, httpCors, httpContact, httpLicense],
};
