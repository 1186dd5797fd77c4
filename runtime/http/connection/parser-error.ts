import { STATUS_CODES } from 'node:http';
import { time } from '../../concurrency/time.js';
import { HttpProblem, problemOf } from '../problem.js';
import type { HttpCode } from '../problem-kinds.js';
import type { SecurityHeaders } from '../security-headers.js';
import type { Connection } from './connection.js';

/** An error of Node's parser, with the bytes that it refused. */
export interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

/**
 * Answers messages that Node's parser refuses before there is a request: broken framing, headers that are too large or
 * too slow. Closes the connection, because the start of the next request is unknown.
 */
export function answerParserError(
  error: ParserError,
  connection: Connection,
  headers: SecurityHeaders,
): void {
  const { socket } = connection;
  if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
  // The answer on its way refuses the body that is broken.
  else if (connection.isTaken) connection.linger();
  else connection.linger(rawAnswer(refusalOf(error), headers));
}

/** A problem as the bytes of a response, for connections without a `ServerResponse`. */
export function rawAnswer(problem: HttpProblem, { lines: security }: SecurityHeaders): string {
  const { status, body, headers } = problemOf(problem);
  const json = JSON.stringify(body);
  const lines = Object.entries({
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(json),
    'cache-control': 'no-store',
    ...headers,
    date: new Date(time.dateMs()).toUTCString(),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}${security}\r\n${json}`;
}

/** A valid request line, possibly with a method that the parser does not know. */
const REQUEST_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64} \S+ HTTP\/1\.[01]\r\n/;

function refusalOf({ code, rawPacket }: ParserError): HttpProblem {
  const [kind, detail] = kindOf(code, rawPacket);
  return new HttpProblem(kind, detail);
}

function kindOf(code: string | undefined, bytes: Buffer | undefined): readonly [HttpCode, string] {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return ['HTTP_HEADERS_TOO_LARGE', 'The request line and headers are too large'];
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return ['HTTP_BODY_TOO_LARGE', 'The chunk extensions are too large'];
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return ['HTTP_REQUEST_TIMEOUT', 'The request did not arrive in time'];
    case 'HPE_INVALID_METHOD':
      return REQUEST_LINE.test(bytes?.toString('latin1', 0, 4_096) ?? '')
        ? ['HTTP_METHOD_NOT_IMPLEMENTED', 'The server does not know the method of the request']
        : MALFORMED;
    default:
      return MALFORMED;
  }
}

const MALFORMED = ['HTTP_MALFORMED_REQUEST', 'The request is not valid HTTP/1.1'] as const;
