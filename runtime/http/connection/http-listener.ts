import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { HttpLimits } from '../limits.js';
import { HttpProblem } from '../problem.js';
import type { Connections } from './connections.js';
import { answerParserError, type ParserError, rawAnswer } from './parser-error.js';
import type { ServerCertificate } from './server-certificate.js';

/** Handlers of the requests that a listener reads. */
export interface ListenerHandlers {
  /** A request whose head has been read. */
  readonly request: (request: IncomingMessage, response: ServerResponse) => void;
  /** A request that expects something other than `100-continue`. */
  readonly expectation: (request: IncomingMessage, response: ServerResponse) => void;
  readonly connections: Connections;
  /** Undefined: HTTP instead of HTTPS. */
  readonly certificate?: ServerCertificate | undefined;
}

/** An HTTP server that does not listen yet. Each connection of it is served one request at a time. */
export function httpListener(limits: HttpLimits, handlers: ListenerHandlers): Server {
  const { request, expectation, connections, certificate } = handlers;
  const server = makeServer(certificate, {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(500, limits.headersTimeoutMs),
    insecureHTTPParser: false,
    // Checked with the other headers, and answered with a problem.
    requireHostHeader: false,
  });
  // With a limit, Node would silently drop further headers. Requests with too many headers are refused instead.
  server.maxHeadersCount = 0;
  const isEncrypted = certificate !== undefined;
  connections.takeOver(server, () => httpListener(limits, handlers), { isEncrypted });
  server.on('request', (message, response) => {
    connections.begin(message, response);
    request(message, response);
  });
  server.on('checkExpectation', (message: IncomingMessage, response: ServerResponse) => {
    connections.begin(message, response);
    expectation(message, response);
  });
  server.on('connect', (_message, socket) => {
    // Node no longer listens to errors of this socket.
    socket.on('error', () => socket.destroy());
    connections.of(socket as Socket)?.linger(rawAnswer(noTunnels(), connections.headers));
  });
  server.on('clientError', (error: ParserError, socket) => {
    const connection = connections.of(socket as Socket);
    if (connection === undefined) socket.destroy();
    else answerParserError(error, connection, connections.headers);
  });
  return server;
}

function makeServer(certificate: ServerCertificate | undefined, options: ServerOptions): Server {
  if (certificate === undefined) return createServer(options);
  // A client that does not finish its handshake has the same time limit as one that does not send its headers.
  const handshakeTimeout = options.headersTimeout ?? 0;
  const server = createTlsServer({ ...options, ...certificate.options, handshakeTimeout });
  certificate.serve(server);
  return server;
}

function noTunnels(): HttpProblem {
  return new HttpProblem('HTTP_METHOD_NOT_IMPLEMENTED', 'The server does not support CONNECT');
}
