/** Returns the names in braces, in order: `/wallets/{walletId}` -> `walletId`. */
export function pathParameters(path: string): readonly string[] {
  return [...path.matchAll(/\{([^{}/]*)\}/g)].map((match) => match[1] ?? '');
}

/** Returns the path without parameter names. Two paths with the same shape match the same requests. */
export function pathShape(path: string): string {
  return path.replace(/\{[^{}/]*\}/g, '{}');
}
