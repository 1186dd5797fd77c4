import type { LockedType } from '../schema/locked-type.js';
import type { ProjectPaths } from '../schema/paths.js';
import type { ProjectSchema } from '../schema/project-schema.js';
import type { UserTemplates } from './render.js';

/** The input of one run. */
export interface EmitInput {
  readonly schema: ProjectSchema;
  readonly paths: ProjectPaths;
  /** Title and version of the API document. */
  readonly title: string;
  readonly version: string;
  /** The time of the run, after which new migrations are named. */
  readonly now: Date;
  /** Default: this package's templates only. */
  readonly templates?: UserTemplates;
  /** Events and params whose stored shape has more than one version. Default: none. */
  readonly lockedTypes?: readonly LockedType[];
}
