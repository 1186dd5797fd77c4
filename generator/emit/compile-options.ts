/** A name that the view does not have is an error. Nothing is escaped for HTML, because views contain source text. */
export const COMPILE_OPTIONS = { noEscape: true, strict: true, knownHelpersOnly: true } as const;
