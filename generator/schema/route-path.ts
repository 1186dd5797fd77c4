/** Names in braces, in order: `/wallets/{walletId}` -> `walletId`. */
export function pathParameters(path: string): readonly string[] {
  return [...path.matchAll(/\{([^{}/]*)\}/g)].map((match) => match[1] ?? '');
}

/** The path without the names of its parameters: two paths of one shape answer the same requests. */
export function pathShape(path: string): string {
  return path.replace(/\{[^{}/]*\}/g, '{}');
}
