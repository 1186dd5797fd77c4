import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ServerOptions } from 'node:https';
import { createSecureContext, type SecureContextOptions, Server } from 'node:tls';
import type { FwConfig } from '../config/types.js';
import { messageOf } from '../errors.js';

type TlsConfig = NonNullable<FwConfig['http']['tls']>;

/** TLS 1.3 and 1.2 resume sessions by tickets under these keys. */
const TICKET_KEY_BYTES = 48;

/** A file of `fw.http.tls` cannot be used. */
export class TlsFileError extends Error {}

/** The certificate of a server, from files that may change while it listens. */
export class ServerCertificate {
  readonly #config: TlsConfig;
  readonly #servers = new Map<Server, () => void>();
  #context: SecureContextOptions;

  /** @throws TlsFileError naming the file */
  constructor(config: TlsConfig) {
    this.#config = config;
    this.#context = readContext(config);
  }

  /** Paths of its files. */
  get files(): readonly string[] {
    const { certificate, key, clientAuthorities } = this.#config;
    return [certificate, key, ...(clientAuthorities === undefined ? [] : [clientAuthorities])];
  }

  /** Options of a server that does not listen yet. */
  get options(): ServerOptions {
    const { clientAuthorities, clientCertificates } = this.#config;
    return {
      ...this.#context,
      requestCert: clientAuthorities !== undefined,
      rejectUnauthorized: clientCertificates === 'required',
    };
  }

  /**
   * Gives the server each new certificate from now on.
   *
   * @param outdate ends connections whose clients former authorities have verified
   */
  serve(server: object, outdate: () => void): void {
    if (server instanceof Server) this.#servers.set(server, outdate);
  }

  /**
   * Reads the files again. Open connections keep their certificate, and end after a change of the authorities.
   *
   * @returns the end of the certificate's validity
   * @throws TlsFileError naming the file; the servers then keep their current certificate
   */
  reload(): Date {
    const { ca } = this.#context;
    this.#context = readContext(this.#config);
    for (const [server, outdate] of this.#servers) {
      server.setSecureContext(this.#context);
      if (this.#context.ca !== ca) outdate();
    }
    return new Date(new X509Certificate(String(this.#context.cert)).validTo);
  }
}

function readContext({ certificate, key, clientAuthorities }: TlsConfig): SecureContextOptions {
  const cert = readPem(certificate, (text) => new X509Certificate(text));
  const privateKey = readPem(key, createPrivateKey);
  if (!cert.parsed.checkPrivateKey(privateKey.parsed))
    throw new TlsFileError(`TLS: ${key} is not the private key of the certificate in ${certificate}`);
  const ca =
    clientAuthorities === undefined
      ? {}
      : { ca: readPem(clientAuthorities, (text) => new X509Certificate(text)).text };
  // New ticket keys, so that sessions that began under the former authorities cannot be resumed.
  const context = {
    ...{ cert: cert.text, key: privateKey.text, ...ca },
    ticketKeys: randomBytes(TICKET_KEY_BYTES),
  };
  try {
    createSecureContext(context);
  } catch (cause) {
    throw new TlsFileError(`TLS: ${certificate} cannot be used: ${messageOf(cause)}`, { cause });
  }
  return context;
}

function readPem<T>(file: string, parse: (text: string) => T): { readonly text: string; readonly parsed: T } {
  try {
    const text = readFileSync(file, 'utf8');
    return { text, parsed: parse(text) };
  } catch (cause) {
    throw new TlsFileError(`TLS: ${file} cannot be used: ${messageOf(cause)}`, { cause });
  }
}
