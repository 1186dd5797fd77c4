import { HttpProblem } from '../problem.js';

/**
 * Parses a query string as strictly as a body: refuses a repeated name and broken percent-encoding. `+` is a space.
 *
 * @param url the request target, including the query
 * @param lists names that may be repeated: `?tag=a&tag=b`. Undefined: all, and a name that is repeated has an array
 * @throws HttpProblem (400)
 */
export function readQuery(url: string, lists?: ReadonlySet<string>): Record<string, string | string[]> {
  const values: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of pairsOf(url)) {
    const known = values[name];
    if (known === undefined) values[name] = lists?.has(name) === true ? [value] : value;
    else if (Array.isArray(known)) known.push(value);
    else if (lists === undefined) values[name] = [known, value];
    else throw givenTwice(name.slice(0, 64));
  }
  return values;
}

function givenTwice(name: string): HttpProblem {
  const shown = JSON.stringify(name);
  const errors = [{ in: 'query', pointer: `/${name}`, message: `${shown} is given twice` }] as const;
  return new HttpProblem('FW_VALIDATION', `The parameter ${shown} is given twice`, { errors });
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
