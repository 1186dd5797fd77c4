import { type Stats, unwatchFile, watchFile } from 'node:fs';
import type { Logger } from '../../observability/logger.js';
import { type ServerCertificate, TlsFileError } from '../server-certificate.js';
import { LOOK_EVERY_MS } from './config-reload.js';
import type { ProcessPort } from './process-port.js';

/** Options of following a certificate. */
export interface CertificateReload {
  /** Undefined: there is no certificate to follow. */
  readonly certificate: ServerCertificate | undefined;
  readonly log: Logger;
  readonly port: Pick<ProcessPort, 'onHangup'>;
}

/**
 * Follows the files of a certificate: after a change, or on SIGHUP, new connections use the new files. Files that are
 * invalid or do not match are logged, and the old certificate stays.
 *
 * @returns a function that stops it
 */
export function followCertificate({ certificate, log, port }: CertificateReload): () => void {
  if (certificate === undefined) return () => {};
  const reload = (): void => {
    try {
      log.info({ validUntil: certificate.reload().toISOString() }, 'TLS: the certificate was reloaded');
    } catch (error) {
      if (!(error instanceof TlsFileError)) throw error;
      log.error({ reason: error.message }, 'TLS: the certificate was not reloaded; the old one stays in use');
    }
  };
  // A file that is being replaced is missing for a moment.
  const look = (now: Stats, before: Stats): void => {
    if (now.mtimeMs !== before.mtimeMs && now.mtimeMs !== 0) reload();
  };
  for (const file of certificate.files) watchFile(file, { interval: LOOK_EVERY_MS, persistent: false }, look);
  const forget = port.onHangup(reload);
  return () => {
    for (const file of certificate.files) unwatchFile(file, look);
    forget();
  };
}
