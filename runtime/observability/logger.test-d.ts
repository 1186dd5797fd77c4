import type { FastifyBaseLogger } from 'fastify';
import type { Logger as PinoLogger } from 'pino';
import type { Logger } from './logger.js';

/** Loggers that users have. */
export function fits(ofPino: PinoLogger, ofFastify: FastifyBaseLogger): readonly Logger[] {
  return [ofPino, ofPino.child({ service: 'wallet' }), ofFastify, console];
}
