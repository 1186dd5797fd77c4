import type { SourceLocation } from '../schema/location.js';

/** A template does not parse, or refers to an unknown name. */
export type TemplateProblem = 'syntax' | 'missing';

/** A template of the user cannot be used. This is a mistake in the input, not a bug of the generator. */
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
