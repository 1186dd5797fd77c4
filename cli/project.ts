import { type Diagnostic, formatDiagnostic } from '../generator/diagnostics.js';
import type { MigrationText, ModelTable } from '../generator/migrations.js';
import { ConfigurationError, type FwConfig, loadConfig } from '../runtime/config/index.js';
import { loadProjectConfig } from '../runtime/config/load-config.js';
import type { ProjectConfig } from '../runtime/config/types.js';
import { InputError } from './input-error.js';
import { projectFolders } from './load-generator.js';

/** @throws InputError with all mistakes */
export function readConfig(file: string): FwConfig {
  return withoutMistakes(() => loadConfig(file));
}

/**
 * The configuration for a command that needs no database, and so none of the application's secrets.
 *
 * @param used the sections and values that it uses
 * @throws InputError with all mistakes
 */
export function readProjectConfig(file: string, used: readonly string[] = ['generator']): ProjectConfig {
  return withoutMistakes(() => loadProjectConfig(file, { used }));
}

function withoutMistakes<T>(load: () => T): T {
  try {
    return load();
  } catch (error) {
    if (error instanceof ConfigurationError) throw new InputError(error.message);
    throw error;
  }
}

/** The project's migrations. Loads the parser on demand. @throws InputError with all mistakes in their files */
export async function readMigrations(
  config: Pick<ProjectConfig, 'file' | 'generator'>,
): Promise<readonly MigrationText[]> {
  const { readMigrationTexts } = await import('../generator/migrations.js');
  const { migrations, diagnostics } = readMigrationTexts(projectFolders(config));
  requireNone(diagnostics);
  return migrations;
}

/** The tables that the models need. @throws InputError with all mistakes in the sources */
export async function readTables(
  config: Pick<ProjectConfig, 'file' | 'generator'>,
): Promise<readonly ModelTable[]> {
  const { readModelTables } = await import('../generator/migrations.js');
  const { tables, diagnostics } = await readModelTables(projectFolders(config));
  requireNone(diagnostics);
  return tables;
}

/** @throws InputError if the sources have mistakes */
export function requireNone(diagnostics: readonly Diagnostic[]): void {
  if (diagnostics.length > 0) throw new InputError(diagnostics.map(formatDiagnostic).join('\n'));
}
