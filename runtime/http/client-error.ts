import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { time } from '../concurrency/time.js';
import type { BrowserHeaders } from './browser-headers.js';
import type { OpenConnections } from './open-connections.js';
import { HttpProblem, problemOf } from './problem.js';
import type { HttpCode } from './problem-kinds.js';

/** An error of Node's parser, with the bytes that it refused. */
export interface ParserError extends Error {
  readonly code?: string;
  readonly bytesParsed?: number;
  readonly rawPacket?: Buffer;
}

/** Time for which bytes of a client are read and discarded after the last answer, in milliseconds. */
const LINGER_MS = 2_000;

/**
 * Answers messages that Node's parser refuses before there is a request: broken framing, headers that are too large or
 * too slow. Closes the connection, because the start of the next request is unknown.
 */
export function answerClientError(
  error: ParserError,
  socket: Socket,
  { connections, headers }: { readonly connections: OpenConnections; readonly headers: BrowserHeaders },
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
  else {
    const answer = { headers, bytes: error.rawPacket };
    connections.afterAnswers(socket, () => endWith(socket, new HttpProblem(...kindOf(error)), answer));
  }
}

/** Answers CONNECT, which is not supported. */
export function refuseTunnel(socket: Socket, headers: BrowserHeaders): void {
  // Node no longer listens to errors of this socket.
  socket.on('error', () => socket.destroy());
  const problem = new HttpProblem('HTTP_METHOD_NOT_IMPLEMENTED', 'The server does not support CONNECT');
  endWith(socket, problem, { headers, bytes: undefined });
}

/** The kernel resets a connection that is closed with unread bytes, and the client would not receive the answer. */
function endWith(
  socket: Socket,
  problem: HttpProblem,
  { headers, bytes }: { readonly headers: BrowserHeaders; readonly bytes: Buffer | undefined },
): void {
  socket.end(rawAnswer(problem, headers, bytes));
  socket.removeAllListeners('data').resume();
  const timer = time.setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('end', () => socket.destroySoon()).once('close', () => time.clearTimeout(timer));
}

function rawAnswer(problem: HttpProblem, headers: BrowserHeaders, bytes: Buffer | undefined): string {
  const { status, body, headers: own } = problemOf(problem);
  const json = JSON.stringify(body);
  const lines = Object.entries({
    ...headers.security,
    ...headers.crossOrigin(originOf(bytes)),
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(json),
    'cache-control': 'no-store',
    ...own,
    date: new Date(time.dateMs()).toUTCString(),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${json}`;
}

/** `Origin` of a request that was not parsed. */
function originOf(bytes: Buffer | undefined): string | undefined {
  return /\r\norigin:[ \t]*([!-~]+)[ \t]*\r\n/i.exec(bytes?.toString('latin1') ?? '')?.[1];
}

const LONGEST_METHOD = 64;
/** A valid request line, possibly with a method that the parser does not know. */
const REQUEST_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64} \S+ HTTP\/1\.[01]\r\n/;

function kindOf({ code, rawPacket: bytes, bytesParsed = 0 }: ParserError): readonly [HttpCode, string] {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return ['HTTP_HEADERS_TOO_LARGE', 'The request line and headers are too large'];
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return ['HTTP_BODY_TOO_LARGE', 'The chunk extensions are too large'];
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return ['HTTP_REQUEST_TIMEOUT', 'The request did not arrive in time'];
    case 'HPE_INVALID_METHOD':
      // Behind another request, the bytes do not begin with the method.
      return bytesParsed <= LONGEST_METHOD && REQUEST_LINE.test(bytes?.toString('latin1', 0, 4_096) ?? '')
        ? ['HTTP_METHOD_NOT_IMPLEMENTED', 'The server does not know the method of the request']
        : MALFORMED;
    default:
      return MALFORMED;
  }
}

const MALFORMED = ['HTTP_MALFORMED_REQUEST', 'The request is not valid HTTP/1.1'] as const;
