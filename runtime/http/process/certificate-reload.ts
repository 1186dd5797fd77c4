import type { Logger } from '../../observability/logger.js';
import { type ServerCertificate, TlsFileError } from '../server-certificate.js';
import { followFiles } from './follow-files.js';
import type { ProcessPort } from './process-port.js';

/**
 * Follows the files of a certificate: after a change, or on SIGHUP, new connections use the new files. Files that are
 * invalid or do not match are logged, and the old certificate stays.
 *
 * @returns a function that stops it
 */
export function followCertificate(
  certificate: ServerCertificate,
  log: Logger,
  port: Pick<ProcessPort, 'on'>,
): () => void {
  return followFiles(certificate.files, port, () => {
    try {
      log.info({ validUntil: certificate.reload().toISOString() }, 'TLS: the certificate was reloaded');
    } catch (error) {
      if (!(error instanceof TlsFileError)) throw error;
      log.error({ reason: error.message }, 'TLS: the certificate was not reloaded; the old one stays in use');
    }
  });
}
