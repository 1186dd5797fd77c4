/** Tables of the models that this process has a repository of. */
const known = new Set<string>();

/** Says that a relation of this name is a model's table: reading it runs no code of the application's. */
export function declareModelTable(table: string): void {
  known.add(table);
}

/**
 * Whether a relation is one of this package's tables or a model's. Any other may be a view, whose functions may write.
 */
export function isPlainTable(schema: string | undefined, name: string): boolean {
  return schema === 'eventlog' || (schema === undefined && known.has(name));
}
