import { HttpProblem } from '../problem.js';

/**
 * Parses a query string as strictly as a body: refuses a repeated name and broken percent-encoding. `+` is a space.
 *
 * @param url the request target, including the query
 * @param lists names that may be repeated: `?tag=a&tag=b`
 * @throws HttpProblem (400)
 */
export function readQuery(url: string, lists: ReadonlySet<string>): Record<string, string | string[]> {
  const values: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of pairsOf(url)) {
    if (lists.has(name)) {
      const items = values[name];
      if (Array.isArray(items)) items.push(value);
      else values[name] = [value];
      continue;
    }
    if (name in values) {
      const shown = JSON.stringify(name.slice(0, 64));
      const errors = [
        { in: 'query', pointer: `/${name.slice(0, 64)}`, message: `${shown} is given twice` },
      ] as const;
      throw new HttpProblem('FW_VALIDATION', `The parameter ${shown} is given twice`, { errors });
    }
    values[name] = value;
  }
  return values;
}

/**
 * Parses the query of a route without declared parameters: a repeated name has an array. Refuses broken
 * percent-encoding.
 *
 * @throws HttpProblem (400)
 */
export function readLooseQuery(url: string): Record<string, string | string[]> {
  const values: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of pairsOf(url)) {
    const known = values[name];
    if (known === undefined) values[name] = value;
    else if (Array.isArray(known)) known.push(value);
    else values[name] = [known, value];
  }
  return values;
}

function* pairsOf(url: string): Generator<readonly [name: string, value: string]> {
  const start = url.indexOf('?');
  if (start === -1) return;
  const end = url.indexOf('#', start);
  for (const pair of url.slice(start + 1, end === -1 ? undefined : end).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = equals === -1 ? pair : pair.slice(0, equals);
    yield [decode(name), equals === -1 ? '' : decode(pair.slice(equals + 1))];
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    throw new HttpProblem('HTTP_MALFORMED_REQUEST', 'The query is not valid percent-encoded UTF-8', {
      cause,
    });
  }
}
