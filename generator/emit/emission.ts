import type { SourceLocation } from '../schema/location.js';
import type { ProjectPaths } from '../schema/paths.js';
import type { ProjectSchema } from '../schema/project-schema.js';
import { FieldTypes } from './field-type.js';
import type { Marks } from './print/marks.js';

/** State that all views of a run share. */
export class Emission {
  readonly schema: ProjectSchema;
  readonly paths: ProjectPaths;
  readonly types: FieldTypes;
  readonly #marks: Marks | undefined;

  /** @param marks records which declaration caused which line. Default: the run does not trace. */
  constructor(schema: ProjectSchema, paths: ProjectPaths, marks?: Marks) {
    this.schema = schema;
    this.paths = paths;
    this.types = new FieldTypes(schema.models, { isTracing: marks !== undefined });
    this.#marks = marks;
  }

  /** Returns the text, traced to the declaration that causes it. */
  at(location: SourceLocation, text: string): string {
    return this.#marks === undefined || text === '' ? text : this.#marks.around(location, text);
  }
}
