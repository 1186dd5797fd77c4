import { ValidationError } from '../errors.js';

const PARAMETER = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Fastify's form of a path: `/wallets/{id}` -> `/wallets/:id`. @throws ValidationError if it is not a valid path */
export function routerPath(path: string): string {
  const converted = path.replaceAll(':', '::').replace(PARAMETER, ':$1');
  if (!path.startsWith('/') || /[{}*?#]/.test(converted)) {
    throw new ValidationError(
      `Not a route path: ${JSON.stringify(path)}; write parameters in braces: /wallets/{id}`,
    );
  }
  return converted;
}

/**
 * Our form of one of Fastify's paths: `/wallets/:id` -> `/wallets/{id}`. Undefined for paths without such a form:
 * wildcards, expressions, two parameters in one segment.
 */
function bracesPath(url: string): string | undefined {
  if (/[*()?]/.test(url)) return undefined;
  const converted = url.replace(/(?<=\/):([A-Za-z_][A-Za-z0-9_]*)(?=\/|$)/g, '{$1}').replaceAll('::', '\0');
  return converted.includes(':') ? undefined : converted.replaceAll('\0', ':');
}

/** The paths of a server's routes, for `Allow` and for the labels of metrics. */
export class RoutePaths {
  /** By Fastify's form of the path. */
  readonly #paths = new Map<string, { name: string; pattern: RegExp | undefined; methods: Set<string> }>();

  add(method: string | readonly string[], url: string): void {
    const path = bracesPath(url);
    const known = this.#paths.get(url) ?? {
      ...{ name: path ?? url, methods: new Set<string>() },
      pattern: path === undefined ? undefined : patternOf(path),
    };
    for (const each of [method].flat()) known.methods.add(each);
    this.#paths.set(url, known);
  }

  /** The path with braces, for metrics: an unknown path adds no label. */
  nameOf(url: string | undefined): string {
    return url === undefined ? 'unmatched' : (this.#paths.get(url)?.name ?? url);
  }

  /** Value of `Allow` for a request's path, `*` for the server as a whole; `undefined` for a path without a route. */
  allowed(path: string): string | undefined {
    const found = [...this.#paths.values()].filter(
      ({ pattern }) => pattern !== undefined && (path === '*' || pattern.test(path)),
    );
    const methods = new Set(found.flatMap((each) => [...each.methods]));
    return methods.size === 0 && path !== '*' ? undefined : [...methods, 'OPTIONS'].sort().join(', ');
  }
}

function patternOf(path: string): RegExp {
  const parts = path.split(PARAMETER).map((part, at) => (at % 2 === 0 ? escaped(part) : '[^/]+'));
  return new RegExp(`^${parts.join('')}$`);
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
