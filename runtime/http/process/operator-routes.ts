import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AccessConfig } from '../../config/types.js';
import type { Principal } from '../../domain/principal.js';
import { ForbiddenError } from '../../errors.js';
import type { CustomRoutes } from '../server-plugin.js';
import { consolePage, readConsole } from './console-page.js';
import { type HistoryRequest, historyPage, readHistory } from './history-page.js';
import { type OperatorPage, PAGE_HEADERS, renderPage } from './operator-page.js';
import type { ServerTools } from './serve-options.js';

type Operators = NonNullable<AccessConfig['operators']>;

/** Whether a caller has the claim that `fw.access.operators` names. */
export function isOperator({ claims }: Principal, { claim, value }: Operators): boolean {
  return claims[claim] === value;
}

/**
 * Serves operators the state of all shards at `/operate`, and the life of a model at `/operate/history/<id>`: its last
 * 100 events, or with `?at=<time>` those until then. Browsers get a page, other clients JSON.
 */
export function operatorRoutes(operators: Operators): CustomRoutes<ServerTools> {
  return (fastify, { application, authenticate }) => {
    const requireOperator = async (request: FastifyRequest): Promise<void> => {
      if (isOperator(await authenticate(request), operators)) return;
      throw new ForbiddenError('Only operators may read this');
    };
    fastify.get('/operate', async (request, reply) => {
      await requireOperator(request);
      const shards = await readConsole(application);
      return answer(request, reply, { shards }, () => consolePage(shards));
    });
    fastify.get<HistoryRequest>('/operate/history/:id', async (request, reply) => {
      await requireOperator(request as FastifyRequest);
      const history = await readHistory(application, request);
      const { events } = history;
      return answer(request as FastifyRequest, reply, { events }, () => historyPage(history));
    });
  };
}

function answer(
  { headers }: FastifyRequest,
  reply: Pick<FastifyReply, 'headers' | 'send'>,
  data: object,
  render: () => OperatorPage,
): object {
  reply.headers({ 'cache-control': 'no-store', vary: 'accept' });
  if (headers.accept?.includes('text/html') !== true) return data;
  return reply.headers(PAGE_HEADERS).send(renderPage(render()));
}
