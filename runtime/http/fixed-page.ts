import { constants, gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { contentTag, isCurrent } from './entity-tags.js';
import { acceptsGzip } from './media-types.js';

/** Sends a page, compressed if the client accepts that; 304 if the client has the page. */
export type SendPage = ({ headers }: FastifyRequest, reply: FastifyReply) => FastifyReply;

/**
 * A page that is the same for all clients: its bytes exist once, for any number of clients.
 *
 * @param headers all but those about length, encoding and freshness
 */
export function fixedPage(text: string, headers: Readonly<Record<string, string>>): SendPage {
  const plain = Buffer.from(text);
  const tag = contentTag(text);
  /** Created for the first client that accepts it. */
  let compressed: Buffer | undefined;
  return (request, reply) => {
    const isCompressed = acceptsGzip(request.headers['accept-encoding']);
    const etag = isCompressed ? tag.replace(/"$/, '-gzip"') : tag;
    const vary = [reply.getHeader('vary'), 'accept-encoding'].filter((each) => each !== undefined).join(', ');
    reply.headers({ 'cache-control': 'no-cache', vary, etag });
    const known = request.headers['if-none-match'];
    if (known !== undefined && isCurrent(known, etag)) return reply.code(304).send();
    reply.headers(headers);
    if (!isCompressed) return reply.send(plain);
    compressed ??= gzipSync(plain, { level: constants.Z_BEST_COMPRESSION });
    return reply.header('content-encoding', 'gzip').send(compressed);
  };
}
