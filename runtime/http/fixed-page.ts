import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { constants, gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Answers } from './answer.js';
import { isCurrent } from './entity-tags.js';
import { acceptsGzip } from './media-types.js';

/** A page that is the same for all clients: its bytes exist once, for any number of clients. */
export class FixedPage {
  readonly #body: Buffer;
  readonly #tag: string;
  readonly #headers: OutgoingHttpHeaders;
  /** Created for the first client that accepts it. */
  #compressed: Buffer | undefined;

  /** @param headers all but those about length, encoding and freshness */
  constructor(text: string, headers: OutgoingHttpHeaders) {
    this.#body = Buffer.from(text);
    this.#tag = createHash('sha256').update(this.#body).digest('base64url').slice(0, 22);
    this.#headers = { ...headers, 'cache-control': 'no-cache' };
  }

  /** Sends the page, compressed if the client accepts that; 304 if the client has the page. */
  send(answers: Answers, { headers }: FastifyRequest, reply: FastifyReply): void {
    const isCompressed = acceptsGzip(headers['accept-encoding']);
    const etag = isCompressed ? `"${this.#tag}-gzip"` : `"${this.#tag}"`;
    const known = headers['if-none-match'];
    const varies = reply.getHeader('vary');
    const vary = [...(varies === undefined ? [] : [String(varies)]), 'accept-encoding'].join(', ');
    if (known !== undefined && isCurrent(known, etag)) {
      const { 'content-type': _type, ...fields } = this.#headers;
      answers.sendEmpty(reply, 304, { ...fields, vary, etag });
      return;
    }
    const encoding = isCompressed ? { 'content-encoding': 'gzip' } : {};
    const body = isCompressed ? this.#gzip() : this.#body;
    answers.send(reply, 200, { ...this.#headers, ...encoding, vary, etag }, body);
  }

  #gzip(): Buffer {
    this.#compressed ??= gzipSync(this.#body, { level: constants.Z_BEST_COMPRESSION });
    return this.#compressed;
  }
}
