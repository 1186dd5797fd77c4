/** True if a body with these headers is JSON in UTF-8, not compressed. Types that end in `+json` mean something else. */
export function isJsonContent(contentType: string | undefined, contentEncoding: string | undefined): boolean {
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') return false;
  if (contentType === 'application/json') return true;
  if (contentType === undefined) return false;
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  if (type.trim() !== 'application/json') return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    return name.trim() !== 'charset' || ['utf-8', 'utf8'].includes(value.trim().replaceAll('"', ''));
  });
}

const JSON_RANGES = ['application/json', 'application/*', '*/*'];

/** True unless `Accept` rules JSON out. The most specific range that matches decides; a weight of 0 refuses. */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return true;
  const weights = new Map<string, number>();
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    weights.set(type, weight === undefined ? 1 : Number(weight));
  }
  const decisive = JSON_RANGES.find((range) => weights.has(range));
  return decisive === undefined ? accept.trim() === '' : (weights.get(decisive) ?? 0) > 0;
}
