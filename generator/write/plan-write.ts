import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { compareText, type Diagnostic, diagnostic } from '../diagnostics.js';
import { type EmittedFiles, HEADER_PREFIX } from '../schema/emitted-files.js';

/** What a run would do to one file. */
export interface FileChange {
  /** Project-relative path. */
  readonly path: string;
  readonly kind: 'create' | 'update' | 'remove' | 'unchanged';
  /** What the file is to hold; absent for `remove`. */
  readonly text?: string;
}

/** Everything that a run would do. Applying it, comparing with it and listing it use this one result. */
export interface WritePlan {
  readonly changes: readonly FileChange[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Compares what was emitted with what is on the disk. Changes nothing. */
export function planWrite(projectDirectory: string, outputFolder: string, emitted: EmittedFiles): WritePlan {
  const changes: FileChange[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const [path, text] of emitted.generated) {
    const change = planFile(projectDirectory, path, text);
    if ('code' in change) diagnostics.push(change);
    else changes.push(change);
  }
  for (const [path, text] of emitted.migrations) {
    const exists = existsSync(join(projectDirectory, path));
    changes.push({ path, kind: exists ? 'unchanged' : 'create', text });
  }
  changes.push(...planRemovals(projectDirectory, outputFolder, emitted));
  return { changes: changes.sort((a, b) => compareText(a.path, b.path)), diagnostics };
}

function planFile(projectDirectory: string, path: string, text: string): FileChange | Diagnostic {
  const absolute = join(projectDirectory, path);
  if (!existsSync(absolute)) return { path, kind: 'create', text };
  const present = statSync(absolute).isFile() ? readFileSync(absolute, 'utf8') : '';
  if (present.startsWith(HEADER_PREFIX))
    return { path, kind: present === text ? 'unchanged' : 'update', text };
  return diagnostic(
    'FWGEN037',
    { file: path },
    'fw-gen would overwrite this file, which it did not write',
    'Move it away, or set another fw.generator.output.',
  );
}

/** Files of earlier runs whose source is gone: they would not compile any more. */
function planRemovals(
  projectDirectory: string,
  folder: string,
  emitted: EmittedFiles,
): readonly FileChange[] {
  const absolute = join(projectDirectory, folder);
  if (!existsSync(absolute)) return [];
  return readdirSync(absolute, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => posix.join(folder, entry.name))
    .filter((path) => !emitted.generated.has(path))
    .filter((path) => readFileSync(join(projectDirectory, path), 'utf8').startsWith(HEADER_PREFIX))
    .map((path) => ({ path, kind: 'remove' as const }));
}
