import type { FieldTexts } from '../schema/field-texts.js';
import type { LockedType } from '../schema/locked-type.js';
import type { ProjectPaths } from '../schema/paths.js';
import type { ModelSchema, ProjectSchema } from '../schema/project-schema.js';
import type { UserTemplates } from './render.js';

/** What one run emits from. */
export interface EmitInput {
  readonly schema: ProjectSchema;
  readonly paths: ProjectPaths;
  /** Of the API document. */
  readonly title: string;
  readonly version: string;
  /** Of the user's own folder. */
  readonly templates?: UserTemplates;
  /** Classes whose stored shape has more than one version. Default: none. */
  readonly lockedTypes?: readonly LockedType[];
  /** Printed fields of earlier runs. */
  readonly fieldTexts?: FieldTexts | undefined;
  /** Models whose own files are on the disk as they would be emitted, and are left there. Default: none. */
  readonly isKept?: ((model: ModelSchema) => boolean) | undefined;
}
