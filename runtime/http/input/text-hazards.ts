/** NUL, or half of a surrogate pair. PostgreSQL refuses the first late; the second has no UTF-8 form and would be changed. */
const UNSTORABLE = /[\0\p{Surrogate}]/u;

/** True if a database could not keep this text as it is. */
export function isUnstorable(text: string): boolean {
  return UNSTORABLE.test(text);
}
