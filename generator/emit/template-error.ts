import type { SourceLocation } from '../schema/location.js';

/** It does not parse, speaks of something unknown, or gives a file that something else gives. */
export type TemplateProblem = 'syntax' | 'missing' | 'conflict';

/** A user's template cannot be used. A mistake in the input, not a bug of this program. */
export class TemplateError extends Error {
  readonly kind: TemplateProblem;
  readonly location: SourceLocation;
  readonly hint: string;

  constructor(kind: TemplateProblem, location: SourceLocation, message: string, hint: string) {
    super(message);
    this.kind = kind;
    this.location = location;
    this.hint = hint;
  }
}
