import type { SourceLocation } from '../schema/location.js';
import type { ProjectSchema } from '../schema/project-schema.js';
import { FieldTypes, shardedModels } from './field-type.js';
import { type Code, Expression, printCode } from './print/code.js';
import type { Marks } from './print/marks.js';

/** State that all views of a run share. */
export class Emission {
  readonly schema: ProjectSchema;
  readonly types: FieldTypes;
  readonly #marks: Marks | undefined;

  /** @param marks records which declaration caused which line. Default: the run does not trace. */
  constructor(schema: ProjectSchema, marks?: Marks) {
    this.schema = schema;
    this.types = new FieldTypes(shardedModels(schema.models), { isTracing: marks !== undefined });
    this.#marks = marks;
  }

  /** Whether emitted texts contain marks. Texts with marks are not written to files. */
  get isTracing(): boolean {
    return this.#marks !== undefined;
  }

  /** Prints a literal, see `printCode`. */
  readonly print: (code: Code, indent: number, lead: number) => string = (code, indent, lead) =>
    printCode(code, indent, lead, this.#marks);

  /**
   * Prints a part of a large literal ahead, so that its inputs can be freed before the whole literal is printed.
   * Returns the code unchanged while tracing, because marks would count as characters of the line.
   *
   * @param indent spaces before the line on which the part begins
   * @param lead characters on that line around the part
   */
  readonly part: (code: Code, indent: number, lead: number) => Code = (code, indent, lead) =>
    this.#marks === undefined ? new Expression(printCode(code, indent, lead)) : code;

  /** Returns the text, traced to the declaration that causes it. */
  at(location: SourceLocation, text: string): string {
    return this.#marks === undefined ? text : this.#marks.around(location, text);
  }
}
