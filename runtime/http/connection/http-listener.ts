import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpLimits } from '../limits.js';
import { HttpProblem } from '../problem.js';
import type { Connections } from './connections.js';
import { answerParserError, type ParserError, rawAnswer } from './parser-error.js';

/** What a listener does with what it reads. */
export interface ListenerHandlers {
  /** A request whose head has been read. */
  readonly request: (request: IncomingMessage, response: ServerResponse) => void;
  /** A request that expects something other than `100-continue`. */
  readonly expectation: (request: IncomingMessage, response: ServerResponse) => void;
  readonly connections: Connections;
}

/** An HTTP server that does not listen yet. Each connection of it is served one request at a time. */
export function httpListener(
  limits: HttpLimits,
  { request, expectation, connections }: ListenerHandlers,
): Server {
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(500, limits.headersTimeoutMs),
    insecureHTTPParser: false,
    // Checked with the other headers, and answered with a problem.
    requireHostHeader: false,
  });
  // Node would drop the headers beyond a number without a word; requests with too many are refused instead.
  server.maxHeadersCount = 0;
  connections.takeOver(server, () => httpListener(limits, { request, expectation, connections }));
  server.on('request', (message, response) => {
    connections.begin(message, response);
    request(message, response);
  });
  server.on('checkExpectation', (message: IncomingMessage, response: ServerResponse) => {
    connections.begin(message, response);
    expectation(message, response);
  });
  server.on('connect', (_message, socket) => socket.end(rawAnswer(noTunnels())));
  server.on('clientError', (error: ParserError, socket) => {
    const connection = connections.of(socket as Socket);
    if (connection === undefined) socket.destroy();
    else answerParserError(error, connection);
  });
  return server;
}

function noTunnels(): HttpProblem {
  return new HttpProblem('HTTP_METHOD_NOT_IMPLEMENTED', 'The server opens no tunnels');
}
