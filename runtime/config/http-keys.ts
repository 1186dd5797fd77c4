import type { BooleanKey, ChoiceKey, DefaultedIntegerKey, FolderKey, SectionKey, TextsKey } from './keys.js';

export const tlsCertificate: FolderKey = {
  kind: 'folder',
  target: 'file',
  name: 'certificate',
  required: true,
  doc: 'PEM file with the certificate of the server, those of intermediate authorities behind it.',
};

export const tlsKey: FolderKey = {
  kind: 'folder',
  target: 'file',
  name: 'key',
  required: true,
  doc: 'PEM file with the private key of the certificate, not encrypted.',
};

export const tlsClientAuthorities: FolderKey = {
  kind: 'folder',
  target: 'file',
  name: 'clientAuthorities',
  doc: 'PEM file with the authorities whose client certificates are trusted. Without it clients are not asked for one.',
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
  doc: 'For how long browsers shall use HTTPS only (`Strict-Transport-Security`), in seconds; 0: the header is left out.',
};

export const httpTls: SectionKey = {
  kind: 'section',
  name: 'tls',
  doc: 'The server speaks HTTPS. Files that change are read again while it runs.',
  keys: [tlsCertificate, tlsKey, tlsClientAuthorities, tlsClientCertificates, strictTransportSeconds],
};

export const corsOrigins: TextsKey = {
  kind: 'texts',
  name: 'origins',
  maximum: 100,
  maximumLength: 512,
  doc: 'Origins of these pages: `https://app.example`. `*` stands for all.',
};

export const corsCredentials: BooleanKey = {
  kind: 'boolean',
  name: 'credentials',
  default: false,
  doc: 'Whether browsers send cookies and client certificates with these requests. Not with the origin `*`.',
};

export const corsMaxAgeSeconds: DefaultedIntegerKey = {
  kind: 'integer',
  name: 'maxAgeSeconds',
  minimum: 0,
  maximum: 86_400,
  default: 600,
  doc: 'How long a browser may keep the answer to a preflight request, in seconds.',
};

export const httpCors: SectionKey = {
  kind: 'section',
  name: 'cors',
  doc: 'Pages of other origins that browsers let call the server (CORS). Default: none.',
  keys: [corsOrigins, corsCredentials, corsMaxAgeSeconds],
};

export const http: SectionKey = {
  kind: 'section',
  name: 'http',
  doc: 'How the server is reached.',
  keys: [httpTls, httpCors],
};
