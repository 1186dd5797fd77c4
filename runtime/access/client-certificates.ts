import type { X509Certificate } from 'node:crypto';
import { TLSSocket } from 'node:tls';
import { time } from '../concurrency/time.js';
import { type Caller, type KnownPrincipal, principalOf } from '../domain/principal.js';
import { UnauthenticatedError, ValidationError } from '../errors.js';
import { CERTIFICATE_SCHEMES } from '../openapi/documented-access.js';
import { type Authenticator, CredentialMissing, type RequestHead } from './authenticator.js';

/** A kind of subject name of a certificate. The last three are subject alternative names. */
type CertificateName = 'common-name' | 'dns' | 'uri' | 'email';

/** Options of `clientCertificates`. */
interface ClientCertificateOptions {
  /**
   * The kind of name that becomes the principal. A certificate must have exactly one such name. Default `common-name`.
   */
  readonly name?: CertificateName;
  /** Returns the caller for a verified certificate. Default: `name`, without claims. */
  readonly principal?: (certificate: X509Certificate) => Caller;
}

interface Known {
  readonly principal: KnownPrincipal;
  readonly validToMs: number;
}

/**
 * Authenticates callers by a client certificate that an authority of `fw.http.tls.client-authorities` has signed. The
 * connection proves it; no header of a request is considered.
 */
export function clientCertificates(options: ClientCertificateOptions = {}): Authenticator {
  const { name = 'common-name', principal = (certificate) => ({ name: nameIn(certificate, name) }) } =
    options;
  const known = new WeakMap<TLSSocket, Known>();

  const read = (socket: TLSSocket): Known => {
    const certificate = socket.getPeerX509Certificate();
    if (certificate === undefined) throw missing();
    if (!socket.authorized) throw refused(String(socket.authorizationError ?? 'it is not trusted'));
    try {
      return {
        principal: principalOf(principal(certificate)),
        validToMs: Date.parse(certificate.validTo),
      };
    } catch (error) {
      if (error instanceof ValidationError) throw refused(error.message, error);
      throw error;
    }
  };

  const authenticate = ({ socket }: RequestHead): KnownPrincipal => {
    if (!(socket instanceof TLSSocket)) throw missing();
    let entry = known.get(socket);
    if (entry === undefined) {
      entry = read(socket);
      known.set(socket, entry);
    }
    // A connection may outlive the certificate with which it was opened.
    if (time.dateMs() >= entry.validToMs) throw refused('it has expired');
    return entry.principal;
  };
  return Object.assign(authenticate, { schemes: CERTIFICATE_SCHEMES });
}

/** Matches one subject alternative name. Node.js quotes texts with other characters as JSON. */
const ALTERNATIVE = /(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^",]*)/gy;
const KINDS: Readonly<Record<string, CertificateName>> = { DNS: 'dns', URI: 'uri', email: 'email' };

function nameIn(certificate: X509Certificate, wanted: CertificateName): string {
  const names = wanted === 'common-name' ? commonNames(certificate) : alternatives(certificate, wanted);
  const [name] = names;
  if (name === undefined || names.length > 1)
    throw new ValidationError(`It must have exactly one name of the kind ${wanted}, found ${names.length}`);
  return name;
}

function commonNames(certificate: X509Certificate): readonly string[] {
  // The type declares one text, but a subject with several names has an array.
  const { CN: names = [] }: { readonly CN?: string | readonly string[] } =
    certificate.toLegacyObject().subject;
  return typeof names === 'string' ? [names] : names;
}

function alternatives({ subjectAltName = '' }: X509Certificate, wanted: CertificateName): readonly string[] {
  const found = [...subjectAltName.matchAll(ALTERNATIVE)];
  if (found.map(([all]) => all).join('') !== subjectAltName)
    throw new ValidationError('Its alternative names cannot be read');
  return found
    .filter(([, kind = '']) => KINDS[kind] === wanted)
    .map(([, , text = '']) => (text.startsWith('"') ? String(JSON.parse(text)) : text));
}

function missing(): CredentialMissing {
  return new CredentialMissing('A client certificate is required', { challenge: 'Mutual' });
}

function refused(why: string, cause?: unknown): UnauthenticatedError {
  return new UnauthenticatedError(`The client certificate is refused: ${why}`, {
    challenge: 'Mutual',
    cause,
  });
}
