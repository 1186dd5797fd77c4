import { dirname, relative } from 'node:path';
import { type Diagnostic, formatDiagnostic } from '../generator/diagnostics.js';
import type { GenerateOptions, ProjectFolders } from '../generator/generate.js';
import type { MigrationFile, ModelTable } from '../generator/migrations.js';
import { defined } from '../generator/schema/defined.js';
import { ConfigurationError } from '../runtime/config/configuration-error.js';
import { loadProjectConfig } from '../runtime/config/load-config.js';
import type { ProjectConfig } from '../runtime/config/types.js';
import { InputError } from './input-error.js';
import type { ReportedProblem } from './report/report.js';

type GeneratorConfig = Pick<ProjectConfig, 'file' | 'generator'>;

/**
 * The configuration for a command that needs no database, and so none of the application's secrets.
 *
 * @param used the sections and values that it uses
 * @throws ConfigurationError with all mistakes
 */
export function readProjectConfig(file: string, used: readonly string[] = ['generator']): ProjectConfig {
  return loadProjectConfig(file, { used });
}

/** The generator's settings in a configuration. @throws ConfigurationError if it has no `fw.generator` */
export function generateOptions(config: GeneratorConfig & Pick<ProjectConfig, 'namespace'>): GenerateOptions {
  const { title = config.namespace, version, templates: templatesDirectory } = config.generator ?? {};
  return { ...projectFolders(config), ...defined({ title, version, templatesDirectory }) };
}

/** The generator's settings in a configuration, or the mistakes. */
export type LoadedOptions =
  | { readonly options: GenerateOptions }
  | { readonly problems: readonly ReportedProblem[] };

/** Reads the generator's settings in a configuration. */
export function loadOptions(file: string): LoadedOptions {
  try {
    return { options: generateOptions(readProjectConfig(file)) };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return {
      problems: error.problems.map(({ line, column, path, message, hint }) => ({
        code: 'FWCONFIG',
        location: { file, ...defined({ line, column }) },
        message: path === '' ? message : `${path}: ${message}`,
        hint: hint ?? 'See docs/configuration.md of fw-actions for every key.',
      })),
    };
  }
}

/** @throws ConfigurationError if the configuration has no `fw.generator` */
export function projectFolders({ file, generator }: GeneratorConfig): ProjectFolders {
  if (generator === undefined) {
    const place = { file: relative(process.cwd(), file), line: undefined, column: undefined };
    const hint = 'set its keys source, output and migrations';
    throw new ConfigurationError([{ ...place, path: 'fw.generator', message: 'is missing', hint }]);
  }
  return {
    projectDirectory: dirname(file),
    sourceDirectory: generator.source,
    outputDirectory: generator.output,
    migrationsDirectory: generator.migrations,
    ...defined({ clientDirectory: generator.client }),
  };
}

/** The project's migrations. @throws InputError with all mistakes in their files */
export async function readMigrations(config: GeneratorConfig): Promise<readonly MigrationFile[]> {
  const generator = await import('../generator/migrations.js');
  const { migrations, diagnostics } = generator.readMigrations(projectFolders(config));
  requireNone(diagnostics);
  return migrations;
}

/** The tables that the models need. @throws InputError with all mistakes in the sources */
export async function readTables(config: GeneratorConfig): Promise<readonly ModelTable[]> {
  const { readModelTables } = await import('../generator/migrations.js');
  const { tables, diagnostics } = await readModelTables(projectFolders(config));
  requireNone(diagnostics);
  return tables;
}

/** @throws InputError if the sources have mistakes */
export function requireNone(diagnostics: readonly Diagnostic[]): void {
  if (diagnostics.length > 0) throw new InputError(diagnostics.map(formatDiagnostic).join('\n'));
}
