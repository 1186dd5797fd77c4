import type { Application } from '../../application.js';
import { ValidationError } from '../../errors.js';
import { readFeeds } from '../../persistence/read/feed-reader.js';
import { LiveFeeds } from '../feed/live-feeds.js';
import type { RouteDescriptor } from '../route.js';

/** Routes of a server, those with a feed marked, and what streams it. */
export interface ServedFeeds {
  readonly routes: readonly RouteDescriptor[];
  readonly feeds: LiveFeeds | undefined;
}

/** @throws ValidationError for a feed of a route that is not there */
export function servedFeeds(
  routes: readonly RouteDescriptor[],
  wanted: Readonly<Record<string, string>>,
  { databases }: Pick<Application, 'databases'>,
): ServedFeeds {
  const paths = Object.keys(wanted);
  if (paths.length === 0) return { routes, feeds: undefined };
  for (const path of paths) {
    if (!routes.some((route) => hasFeed(route, path, wanted[path])))
      throw new ValidationError(
        `There is no GET route ${path} with a parameter {${wanted[path]}}, which has a feed`,
      );
  }
  return {
    routes: routes.map((route) => {
      const feed = route.method === 'GET' ? wanted[route.path] : undefined;
      return feed === undefined ? route : { ...route, feed };
    }),
    feeds: new LiveFeeds({
      read: (shard, models, limit) => readFeeds(databases.database(shard), models, limit),
      defaultShard: () => databases.defaultShard,
    }),
  };
}

function hasFeed({ method, path }: RouteDescriptor, wanted: string, parameter = ''): boolean {
  return method === 'GET' && path === wanted && path.includes(`{${parameter}}`);
}
