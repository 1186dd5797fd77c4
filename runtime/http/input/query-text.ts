import { HttpProblem } from '../problem.js';

/**
 * Reads a query string as strictly as a body: a name that stands twice and broken percent-encoding are refused, where
 * others would pick one value or keep the raw text. `+` is a space.
 *
 * @param url the request target, query included
 * @throws HttpProblem (400)
 */
export function readQuery(url: string): Record<string, string> {
  const values: Record<string, string> = Object.create(null);
  const start = url.indexOf('?');
  if (start === -1) return values;
  const end = url.indexOf('#', start);
  for (const pair of url.slice(start + 1, end === -1 ? undefined : end).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    if (name in values) {
      const shown = JSON.stringify(name.slice(0, 64));
      const errors = [
        { in: 'query', pointer: `/${name.slice(0, 64)}`, message: `${shown} is given twice` },
      ] as const;
      throw new HttpProblem('FW_VALIDATION', `The parameter ${shown} is given twice`, { errors });
    }
    values[name] = equals === -1 ? '' : decode(pair.slice(equals + 1));
  }
  return values;
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
