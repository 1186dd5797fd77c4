import { readFileSync } from 'node:fs';
import { readEventLock } from '../../relay/schemas/event-lock.js';
import { HttpProblem } from '../problem.js';
import type { CustomRoutes } from '../server-plugin.js';

interface SchemaParams {
  readonly event: string;
  readonly file: string;
}

/**
 * Serves the schema of every version of every event: `/schemas/WalletCreatedEvent/1.json`.
 *
 * @param lockFile path of `events.lock`, read once
 * @throws the system's error if the file is missing @throws ValidationError if it is not a lock file
 */
export function schemaRoutes(lockFile: string): CustomRoutes<unknown> {
  const schemas = new Map(
    readEventLock(readFileSync(lockFile, 'utf8')).map(({ eventType, version, schema }) => [
      `${eventType}/${version}.json`,
      JSON.stringify(schema),
    ]),
  );
  return (fastify) => {
    fastify.get<{ Params: SchemaParams }>('/schemas/:event/:file', (request, reply) => {
      const { event, file } = request.params;
      const schema = schemas.get(`${event}/${file}`);
      if (schema === undefined)
        throw new HttpProblem('HTTP_NOT_FOUND', `There is no schema ${event}/${file}`);
      return reply
        .header('content-type', 'application/schema+json')
        .header('cache-control', 'public, max-age=86400')
        .send(schema);
    });
  };
}
