import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Answer = (request: IncomingMessage, body: string, response: ServerResponse) => void;

/** A server that gets webhooks, on the same port each time that it opens. */
export class HttpReceiver {
  readonly #answer: Answer;
  #server: Server | undefined;
  #port = 0;

  constructor(answer: Answer) {
    this.#answer = answer;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`;
  }

  readonly open = async (): Promise<void> => {
    const server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk;
      });
      request.on('end', () => this.#answer(request, body, response));
    });
    this.#server = server;
    await new Promise<void>((resolve) => {
      server.listen(this.#port, '127.0.0.1', resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
  };

  readonly close = async (): Promise<void> => {
    const closed = new Promise((resolve) => this.#server?.close(resolve));
    this.#server?.closeAllConnections();
    await closed;
  };
}
