import type { RouteOptions } from 'fastify';
import { ValidationError } from '../errors.js';
import { bracesPath, type PathMethods, pathShape } from './path-pattern.js';

/** Called for each route that a plugin or the application adds besides the generated ones. May change its options. */
export type OnForeignRoute = (route: RouteOptions) => void;

/** The routes of one server by path. Fastify reports each route here before it adds it. */
export class RouteRegister {
  readonly #paths: PathMethods;
  readonly #onForeign: OnForeignRoute;
  readonly #owners = new Map<string, string>();
  /** The owner of the routes that the server itself is adding. */
  #adding: string | undefined;

  constructor(paths: PathMethods, onForeign: OnForeignRoute) {
    this.#paths = paths;
    this.#onForeign = onForeign;
  }

  /** Marks the routes that `add` adds as the server's own. @param owner the action or page, for messages */
  own(owner: string, add: () => void): void {
    this.#adding = owner;
    try {
      add();
    } finally {
      this.#adding = undefined;
    }
  }

  /** Fastify's hook `onRoute`. @throws ValidationError for a path that another route already serves */
  readonly onRoute = (route: RouteOptions): void => {
    const methods = typeof route.method === 'string' ? [route.method] : route.method;
    const path = bracesPath(route.url);
    const keys = methods.map((method) => `${method} ${pathShape(path ?? route.url)}`);
    for (const [at, key] of keys.entries()) {
      // Fastify adds HEAD to each GET by itself.
      if (methods[at] === 'HEAD') continue;
      this.#claim(key, `${methods[at]} ${path ?? route.url}`);
      if (path !== undefined) this.#paths.add(String(methods[at]), path);
    }
    if (this.#adding === undefined) this.#onForeign(route);
  };

  #claim(key: string, shown: string): void {
    const owner = this.#owners.get(key);
    const next = this.#adding ?? FOREIGN;
    if (owner !== undefined) {
      throw new ValidationError(
        `${shown} is declared twice: by ${owner} and by ${next}. Change the path or the method of one of them.`,
      );
    }
    this.#owners.set(key, next);
  }
}

const FOREIGN = 'a custom route or a plugin';
