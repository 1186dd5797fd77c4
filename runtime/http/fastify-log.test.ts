import type { FastifyInstance, FastifyRequest } from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import type { LogEntry } from '../domain/logger.js';
import { collectLog } from './test-support/collect-log.js';
import { WalletApplication } from './test-support/wallet-server.js';

it('what plugins and custom routes log is in the log of the server, under the id of the request', async () => {
  const entries: LogEntry[] = [];
  const plugin = async (fastify: FastifyInstance): Promise<void> => {
    fastify.log.info({ rooms: 3 }, 'plugin %s', 'starts');
    fastify.log.debug('no line');
    fastify.log.child({ part: 'pool' }).warn('almost full');
  };
  const customRoutes = (fastify: FastifyInstance): void => {
    const log = async ({ log }: FastifyRequest): Promise<object> => {
      log.error({ err: 'a code' }, 'no room');
      log.error(new Error('no mail'));
      return {};
    };
    fastify.get('/room', log);
  };
  const application = new WalletApplication();
  const server = application.server({ log: collectLog(entries), plugins: [plugin], customRoutes });
  onTestFinished(() => server.close(0));
  const { url } = await server.listen({ host: '127.0.0.1', port: 0 });
  const answer = await fetch(`${url}/room`, { headers: { 'x-request-id': 'r-1' } });
  expect(answer.status).toBe(200);
  expect(entries).toEqual([
    expect.objectContaining({ message: expect.stringContaining('authentication is off') }),
    { level: 'info', message: 'plugin starts', rooms: 3 },
    { level: 'warn', message: 'almost full', part: 'pool' },
    { level: 'error', message: 'no room', err: 'a code', requestId: 'r-1' },
    { level: 'error', message: 'no mail', error: 'no mail', stack: expect.any(String), requestId: 'r-1' },
  ]);
});
