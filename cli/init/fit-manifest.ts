/** The package.json of a new project, fitted into an existing one. */
export interface FittedManifest {
  readonly text: string;
  /** Keys with another value in the existing file, such as `scripts.build`. */
  readonly conflicts: readonly string[];
  /** Keys whose values `npm init` had written. */
  readonly replaced: readonly string[];
}

type Values = Readonly<Record<string, unknown>>;

/** Values that `npm init` writes, by key. They are replaced. */
const PLACEHOLDERS: Readonly<Record<string, unknown>> = {
  type: 'commonjs',
  'scripts.test': 'echo "Error: no test specified" && exit 1',
};

/** Keys whose existing values also fit the new project. */
const KEPT = /^(name|version|private|engines|(dev)?dependencies\..*)/;

/**
 * Adds the keys of a package.json to an existing one, such as `npm install fw-actions` creates. Existing values stay,
 * except those that `npm init` has written.
 *
 * @throws SyntaxError if the existing text is not JSON
 */
export function fitManifest(wanted: string, existing: string): FittedManifest {
  const found = { conflicts: [], replaced: [] };
  const merged = merge(readObject(wanted), readObject(existing), '', found);
  const indent = /^[ \t]+(?=")/m.exec(existing)?.[0] ?? 2;
  return { text: `${JSON.stringify(merged, undefined, indent)}\n`, ...found };
}

interface Found {
  readonly conflicts: string[];
  readonly replaced: string[];
}

function merge(wanted: Values, existing: Values, path: string, places: Found): Values {
  const merged: Record<string, unknown> = { ...existing };
  for (const [key, value] of Object.entries(wanted)) {
    const place = `${path}${key}`;
    const found = existing[key];
    if (found === undefined) merged[key] = value;
    else if (found === PLACEHOLDERS[place]) {
      merged[key] = value;
      places.replaced.push(place);
    } else if (isObject(value) && isObject(found)) merged[key] = merge(value, found, `${place}.`, places);
    else if (found !== value && !KEPT.test(place)) places.conflicts.push(place);
  }
  return merged;
}

function readObject(text: string): Values {
  const value: unknown = JSON.parse(text);
  if (isObject(value)) return value;
  throw new SyntaxError('It is not a JSON object');
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
