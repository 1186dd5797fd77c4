/**
 * A server with one page: that of the framework, of an earlier build (the folder BENCH_BEFORE), or of plain Fastify
 * with the same answer.
 */
import Fastify from 'fastify';

const BODY = Buffer.from('{"status":"live"}');

const port = process.argv[2] === 'fastify' ? await bareFastify() : await framework();
process.stdout.write(`listening on http://127.0.0.1:${port}\n`);
process.on('SIGTERM', () => process.exit(0));

async function bareFastify() {
  const app = Fastify({ logger: false });
  app.get('/health/live', (_request, reply) => {
    reply.header('content-type', 'application/json').header('cache-control', 'no-store');
    reply.header('x-content-type-options', 'nosniff').send(BODY);
  });
  return Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
}

async function framework() {
  if (process.argv[2] === 'before') process.env.BENCH_BUILD = process.env.BENCH_BEFORE;
  const { built } = await import('../lib/product.js');
  const { createHttpServer } = await built('runtime/http/http-server.js');
  const server = createHttpServer({
    routes: [],
    executor: { execute: async () => undefined },
    openApi: { openapi: '3.1.0', info: { title: 'Nothing', version: '1' }, paths: {} },
    authenticator: () => ({ name: 'bench' }),
    health: async () => [],
  });
  return (await server.listen({ host: '127.0.0.1', port: 0 })).port;
}
