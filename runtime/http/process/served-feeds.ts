import type { Application } from '../../application.js';
import { ValidationError } from '../../errors.js';
import { readFeeds } from '../../persistence/read/feed-reader.js';
import { LiveFeeds } from '../feed/live-feeds.js';
import type { RouteDescriptor } from '../route.js';

/** The routes of a server, with feeds marked, and the streams. */
export interface ServedFeeds {
  readonly routes: readonly RouteDescriptor[];
  readonly feeds: LiveFeeds | undefined;
}

/**
 * @param wanted feeds of the options, by path; they take precedence over those that routes declare
 * @throws ValidationError for a feed of an unknown route
 */
export function servedFeeds(
  routes: readonly RouteDescriptor[],
  wanted: Readonly<Record<string, string>>,
  { databases }: Pick<Application, 'databases'>,
): ServedFeeds {
  for (const [path, parameter] of Object.entries(wanted)) {
    const isServed = routes.some((route) => route.method === 'GET' && route.path === path);
    if (!isServed || !path.includes(`{${parameter}}`))
      throw new ValidationError(
        `A feed needs a GET route ${path} with the parameter {${parameter}}, which does not exist`,
      );
  }
  const served = routes.map((route) => {
    const feed = route.method === 'GET' ? (wanted[route.path] ?? route.feed) : undefined;
    return feed === undefined ? route : { ...route, feed };
  });
  if (served.every(({ feed }) => feed === undefined)) return { routes, feeds: undefined };
  return {
    routes: served,
    feeds: new LiveFeeds({
      read: (shard, models, page) => readFeeds(databases.database(shard), models, page),
      defaultShard: () => databases.defaultShard,
    }),
  };
}
