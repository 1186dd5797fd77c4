import type { FieldTexts } from '../schema/field-texts.js';
import type { SourceLocation } from '../schema/location.js';
import type { ProjectSchema } from '../schema/project-schema.js';
import { FieldTypes, shardedModels } from './field-type.js';
import { type Code, Expression, printCode } from './print/code.js';
import type { Marks } from './print/marks.js';

/** What all views of one run share. */
export class Emission {
  readonly schema: ProjectSchema;
  /** Descriptors of fields. */
  readonly types: FieldTypes;
  readonly #marks: Marks | undefined;
  /** Of earlier runs. */
  readonly fieldTexts: FieldTexts | undefined;

  /** @param marks given to learn which declaration caused which line */
  constructor(schema: ProjectSchema, marks?: Marks, fieldTexts?: FieldTexts) {
    this.fieldTexts = marks === undefined ? fieldTexts : undefined;
    this.schema = schema;
    this.types = new FieldTypes(shardedModels(schema.models));
    this.#marks = marks;
  }

  /** Declarations are marked in what is emitted: it is no text to be written. */
  get isTracing(): boolean {
    return this.#marks !== undefined;
  }

  /** Prints a literal, see `printCode`. */
  readonly print: (code: Code, indent: number, lead: number) => string = (code, indent, lead) =>
    printCode(code, indent, lead, this.#marks);

  /**
   * A part of a large literal as the text that it will have there, so that what it was made of need not wait for the
   * rest. As it is while it is traced: marks would count as characters of the line.
   *
   * @param indent spaces before the line that the part begins on @param lead characters on that line around the part
   */
  readonly part: (code: Code, indent: number, lead: number) => Code = (code, indent, lead) =>
    this.#marks === undefined ? new Expression(printCode(code, indent, lead)) : code;

  /** The text, traced to the declaration that causes it. */
  at(location: SourceLocation, text: string): string {
    return this.#marks === undefined ? text : this.#marks.around(location, text);
  }
}
