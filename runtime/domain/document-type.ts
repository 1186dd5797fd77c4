import type { FieldType } from './descriptor.js';

const KINDS = ['json', 'list', 'tuple', 'record', 'union', 'recursive', 'again', 'object'] as const;

/** A type whose values are stored as one JSON document in a row. */
export type DocumentType = Extract<FieldType, { readonly kind: (typeof KINDS)[number] }>;

const DOCUMENTS: ReadonlySet<FieldType['kind']> = new Set(KINDS);

export function isDocument(type: FieldType): type is DocumentType {
  return DOCUMENTS.has(type.kind);
}
