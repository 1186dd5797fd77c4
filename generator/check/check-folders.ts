import { existsSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { type Diagnostic, diagnostic } from '../diagnostics.js';
import { defined } from '../schema/defined.js';
import { type ProjectPaths, relativeTo } from '../schema/paths.js';

/** Folders as absolute paths. */
export interface ProjectFolders {
  /** Files outside of it are neither read nor written. */
  readonly projectDirectory: string;
  readonly sourceDirectory: string;
  readonly outputDirectory: string;
  readonly migrationsDirectory: string;
  /** Folder of the emitted client. Default: no client is emitted. */
  readonly clientDirectory?: string | undefined;
}

/** Folders relative to the project, and their problems. */
export function checkFolders(folders: ProjectFolders): {
  readonly paths: ProjectPaths;
  readonly diagnostics: readonly Diagnostic[];
} {
  const { projectDirectory, clientDirectory: client } = folders;
  const directories = {
    source: folders.sourceDirectory,
    output: folders.outputDirectory,
    migrations: folders.migrationsDirectory,
  };
  const outside = Object.entries(defined({ ...directories, client })).flatMap(([what, folder]) => {
    const path = relativeTo(projectDirectory, folder);
    if (!isOutside(path) && !isOutside(relativeTo(realPath(projectDirectory), realPath(folder)))) return [];
    const hint = `Set fw.generator.${what} to a folder below the folder of the configuration file.`;
    return diagnostic('FWGEN036', { file: path }, `The ${what} folder is outside the project`, hint);
  });
  const paths = {
    source: relativeTo(projectDirectory, directories.source),
    output: relativeTo(projectDirectory, directories.output),
    migrations: relativeTo(projectDirectory, directories.migrations),
    ...(client === undefined ? {} : { client: relativeTo(projectDirectory, client) }),
  };
  return { paths, diagnostics: outside.length > 0 ? outside : overlapsOf(paths) };
}

/** Emitted files must not be read as sources, nor migrations as emitted files. */
function overlapsOf({ source, output, migrations, client }: ProjectPaths): readonly Diagnostic[] {
  const message =
    output === '' || output === source || source.startsWith(`${output}/`)
      ? 'The output folder contains sources'
      : migrations === output
        ? 'The output folder and the migrations folder are the same'
        : migrations === '' || migrations === source
          ? 'The migrations folder is also used for other files'
          : client !== undefined && [source, output, migrations, ''].includes(client)
            ? 'The client folder is also used for other files'
            : undefined;
  if (message === undefined) return [];
  const hint = 'Set separate folders for source, output, migrations and client in fw.generator.';
  return [diagnostic('FWGEN036', { file: output || '.' }, message, hint)];
}

function isOutside(path: string): boolean {
  return path === '..' || path.startsWith('../') || isAbsolute(path);
}

/** The real path of a folder that may not exist yet. */
function realPath(folder: string): string {
  const absolute = resolve(folder);
  if (existsSync(absolute)) return realpathSync(absolute);
  const parent = dirname(absolute);
  return parent === absolute ? absolute : join(realPath(parent), absolute.slice(parent.length));
}
