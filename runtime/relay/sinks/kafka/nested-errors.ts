const DEEPEST = 8;

/** An error and all inside of it: the client nests what brokers say in `errors` and `cause`. */
export function nested(error: unknown, depth = 0): readonly Error[] {
  if (!(error instanceof Error) || depth > DEEPEST) return [];
  const inner: readonly unknown[] = 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
  return [error, ...[...inner, error.cause].flatMap((each) => nested(each, depth + 1))];
}
