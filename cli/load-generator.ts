import { dirname } from 'node:path';
import type { GenerateOptions, ProjectFolders } from '../generator/generate.js';
import { defined } from '../generator/schema/defined.js';
import { type AccessConfig, ConfigurationError, type HttpConfig } from '../runtime/config/index.js';
import { loadProjectConfig } from '../runtime/config/load-config.js';
import type { ProjectConfig } from '../runtime/config/types.js';
import { InputError } from './input-error.js';
import { problemLine, type ReportedProblem } from './report/report.js';

/** The generator's settings in a configuration, or the mistakes. */
export type LoadedGenerator = GeneratorConfig | { readonly problems: readonly ReportedProblem[] };

interface GeneratorConfig {
  readonly options: GenerateOptions;
  readonly access: AccessConfig;
  readonly http: HttpConfig;
}

/** As `loadGenerator`. @throws InputError with all mistakes */
export function generatorOptions(file: string, used: readonly string[] = []): GeneratorConfig {
  const loaded = loadGenerator(file, used);
  if ('problems' in loaded) throw new InputError(loaded.problems.map(problemLine).join('\n'));
  return loaded;
}

/**
 * Reads a configuration, without the secrets of the application.
 *
 * @param used further sections and values that the caller uses
 * @throws InputError if it has no `fw.generator`
 */
export function loadGenerator(file: string, used: readonly string[] = []): LoadedGenerator {
  try {
    const config = loadProjectConfig(file, { used: ['generator', ...used] });
    const { title = config.namespace, version, templates: templatesDirectory } = config.generator ?? {};
    return {
      access: config.access,
      http: config.http,
      options: { ...projectFolders(config), ...defined({ title, version, templatesDirectory }) },
    };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return {
      problems: error.problems.map(({ line, column, path, message, hint }) => ({
        code: 'FWCONFIG' as const,
        location: { file, ...defined({ line, column }) },
        message: path === '' ? message : `${path}: ${message}`,
        hint: hint ?? 'See docs/configuration.md of fw-actions for every key.',
      })),
    };
  }
}

/** @throws InputError if the configuration has no `fw.generator` */
export function projectFolders({
  file,
  generator,
}: Pick<ProjectConfig, 'file' | 'generator'>): ProjectFolders {
  if (generator === undefined)
    throw new InputError(`${file}: fw.generator is missing. Set its keys source, output and migrations.`);
  return {
    projectDirectory: dirname(file),
    sourceDirectory: generator.source,
    outputDirectory: generator.output,
    migrationsDirectory: generator.migrations,
    ...defined({ clientDirectory: generator.client }),
  };
}
