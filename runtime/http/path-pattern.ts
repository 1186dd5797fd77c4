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
export function bracesPath(url: string): string | undefined {
  if (/[*()?]/.test(url)) return undefined;
  const converted = url.replace(/(?<=\/):([A-Za-z_][A-Za-z0-9_]*)(?=\/|$)/g, '{$1}').replaceAll('::', '\0');
  return converted.includes(':') ? undefined : converted.replaceAll('\0', ':');
}

/** The path without the names of its parameters: a router treats two paths of one shape as equal. */
export function pathShape(path: string): string {
  return path.replace(PARAMETER, '{}');
}

/** The methods of each path. Used only if no route was found. */
export class PathMethods {
  readonly #methods = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();

  add(method: string, path: string): void {
    const entry = this.#methods.get(path) ?? { pattern: patternOf(path), methods: new Set<string>() };
    entry.methods.add(method);
    if (method === 'GET') entry.methods.add('HEAD');
    this.#methods.set(path, entry);
  }

  has(method: string, path: string): boolean {
    return this.#methods.get(path)?.methods.has(method) ?? false;
  }

  /** Value of `Allow` for the server as a whole: `OPTIONS *`. */
  all(): string {
    const found = new Set([...this.#methods.values()].flatMap(({ methods }) => [...methods]));
    return [...found, 'OPTIONS'].sort().join(', ');
  }

  /** Value of `Allow` for a request's path; `undefined` for a path without a route. */
  allowed(path: string): string | undefined {
    const found = new Set<string>();
    for (const { pattern, methods } of this.#methods.values()) {
      if (pattern.test(path)) for (const method of methods) found.add(method);
    }
    return found.size === 0 ? undefined : [...found, 'OPTIONS'].sort().join(', ');
  }
}

function patternOf(path: string): RegExp {
  const escaped = path.split(PARAMETER).map((part, at) => (at % 2 === 0 ? escapeRegExp(part) : '[^/]+'));
  return new RegExp(`^${escaped.join('')}$`);
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
