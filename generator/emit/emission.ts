import type { SourceLocation } from '../schema/location.js';
import type { ProjectSchema } from '../schema/project-schema.js';
import { type ShardedModels, shardedModels } from './field-type.js';
import { type Code, printCode } from './print/code.js';
import type { Marks } from './print/marks.js';

/** What all views of one run share. */
export class Emission {
  readonly schema: ProjectSchema;
  /** Tells which models have sharded ids. */
  readonly isSharded: ShardedModels;
  readonly #marks: Marks | undefined;

  /** @param marks given to learn which declaration caused which line */
  constructor(schema: ProjectSchema, marks?: Marks) {
    this.schema = schema;
    this.isSharded = shardedModels(schema.models);
    this.#marks = marks;
  }

  /** Prints a literal, see `printCode`. */
  readonly print: (code: Code, indent: number, lead: number) => string = (code, indent, lead) =>
    printCode(code, indent, lead, this.#marks);

  /** The text, traced to the declaration that causes it. */
  at(location: SourceLocation, text: string): string {
    return this.#marks === undefined ? text : this.#marks.around(location, text);
  }
}
