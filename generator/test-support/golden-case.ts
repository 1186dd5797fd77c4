import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GenerateOptions } from '../generate.js';

/** The `options.json` of a golden case. */
export interface CaseOptions {
  readonly source?: string;
  readonly output?: string;
  readonly migrations?: string;
  readonly templates?: string;
  readonly client?: string;
  readonly strict?: boolean;
  /** A regular expression of the files that the case is about. Default: all files. */
  readonly shows?: string;
}

/** Returns the options of a case. @param folder of the case */
export function optionsOf(folder: string): CaseOptions {
  const file = join(folder, 'options.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

/** Returns what to generate for a case. @param project a copy of its input */
export function foldersOf(folder: string, project: string): GenerateOptions {
  const options = optionsOf(folder);
  return {
    projectDirectory: project,
    sourceDirectory: join(project, options.source ?? '.'),
    outputDirectory: join(project, options.output ?? 'generated'),
    migrationsDirectory: join(project, options.migrations ?? 'migrations'),
    strict: options.strict === true,
    now: new Date('2026-03-01T09:00:00Z'),
    ...(options.templates === undefined ? {} : { templatesDirectory: join(project, options.templates) }),
    ...(options.client === undefined ? {} : { clientDirectory: join(project, options.client) }),
  };
}
