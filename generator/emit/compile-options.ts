/**
 * A name that the view does not have is an error, and nothing is escaped for HTML: views hold text that is ready to be
 * code.
 */
export const COMPILE_OPTIONS = { noEscape: true, strict: true, knownHelpersOnly: true } as const;
