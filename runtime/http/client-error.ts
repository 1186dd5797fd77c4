import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { HttpProblem, problemOf } from './problem.js';
import type { HttpCode } from './problem-kinds.js';

/**
 * Answers what Node's parser refuses before there is a request: broken framing, headers that are too large or too
 * slow. The connection is closed, because nobody knows where the next request would start.
 */
export function answerClientError(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const [code, detail] = refusalOf(error.code);
  const { status, body } = problemOf(new HttpProblem(code, detail));
  const json = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/problem+json\r\n` +
      `Content-Length: ${Buffer.byteLength(json)}\r\nConnection: close\r\n\r\n${json}`,
  );
  // What the client still sends is not waited for.
  socket.once('finish', () => socket.destroy());
}

function refusalOf(code: string | undefined): readonly [HttpCode, string] {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return ['HTTP_HEADERS_TOO_LARGE', 'The request line and headers are too large'];
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return ['HTTP_BODY_TOO_LARGE', 'The chunk extensions are too large'];
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return ['HTTP_REQUEST_TIMEOUT', 'The request did not arrive in time'];
    default:
      return ['HTTP_MALFORMED_REQUEST', 'The request is not valid HTTP/1.1'];
  }
}

/**
 * True while the answer to an earlier, complete request of this connection is under way: an answer written now would
 * be taken for that one. Node keeps it on the socket, without a public name.
 */
function isAnswering(socket: Socket): boolean {
  const response: unknown = Reflect.get(socket, '_httpMessage');
  if (typeof response !== 'object' || response === null) return false;
  const { req, headersSent } = response as {
    readonly req?: { readonly complete?: boolean };
    readonly headersSent?: boolean;
  };
  return headersSent === true || req?.complete === true;
}
