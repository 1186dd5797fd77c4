import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { contentHash, plainText } from '../content-hash.js';
import { compareText, type Diagnostic, diagnostic } from '../diagnostics.js';
import { type EmittedFiles, HEADER_PREFIX, MANIFEST_NAME } from '../schema/emitted-files.js';
import { relativePath } from '../schema/paths.js';
import { hasConflictMarkers, type Manifest, readManifest } from './manifest.js';

/** The change of one file in a run. */
export interface FileChange {
  /** Project-relative path. */
  readonly path: string;
  readonly kind: 'create' | 'update' | 'remove' | 'unchanged';
  /** The new text; absent for `remove`. */
  readonly text?: string;
  /** The current text; absent for `create`. */
  readonly before?: string;
}

/** All changes of a run. Applying them, comparing with them and listing them use this result. */
export interface WritePlan {
  readonly changes: readonly FileChange[];
  readonly diagnostics: readonly Diagnostic[];
  /** The new content of the manifest, by path from the output folder. */
  readonly manifest: ReadonlyMap<string, ReadonlySet<string>>;
  /** The current manifest; absent if there is none. */
  readonly before?: Manifest | undefined;
}

/** The inputs of a plan. */
export interface PlanRequest {
  readonly projectDirectory: string;
  readonly outputFolder: string;
  readonly emitted: EmittedFiles;
  /** Whether to replace files that were edited, or that we did not write. Default false. */
  readonly force?: boolean;
}

/** Compares the emitted texts with the files. Changes nothing. */
export function planWrite(request: PlanRequest): WritePlan {
  const { projectDirectory, outputFolder, emitted } = request;
  const manifestText = readText(join(projectDirectory, outputFolder, MANIFEST_NAME));
  const manifest = manifestText === undefined ? undefined : readManifest(manifestText);
  const changes: FileChange[] = [];
  const diagnostics: Diagnostic[] = [];
  const add = (planned: FileChange | Diagnostic): void => {
    if ('code' in planned) diagnostics.push(planned);
    else changes.push(planned);
  };
  for (const [path, text] of emitted.generated) add(planFile(request, manifest, path, text));
  for (const [path, text] of emitted.migrations) {
    const exists = existsSync(join(projectDirectory, path));
    changes.push({ path, kind: exists ? 'unchanged' : 'create', text });
  }
  for (const [path, text] of emitted.locks ?? []) {
    const before = readText(join(projectDirectory, path));
    changes.push(
      before === undefined ? { path, kind: 'create', text } : { path, kind: 'update', text, before },
    );
  }
  for (const planned of planRemovals(request, manifest)) add(planned);
  changes.sort((a, b) => compareText(a.path, b.path));
  const hashes = [...emitted.generated].map(
    ([path, text]) => [relativePath(outputFolder, path), new Set([contentHash(text)])] as const,
  );
  return { changes, diagnostics, manifest: new Map(hashes), before: manifest };
}

function planFile(
  request: PlanRequest,
  manifest: Manifest | undefined,
  path: string,
  text: string,
): FileChange | Diagnostic {
  const absolute = join(request.projectDirectory, path);
  const before = readText(absolute);
  if (before === undefined) return existsSync(absolute) ? foreign(path) : { path, kind: 'create', text };
  // Git may have checked it out with other line ends. Keeps one of two equal texts, because outputs are large.
  if (before === text || plainText(before) === text) return { path, kind: 'unchanged', text, before: text };
  const state = ownershipOf(manifest, relativePath(request.outputFolder, path), before);
  if (state === 'own' || request.force === true) return { path, kind: 'update', text, before };
  return state === 'edited' ? edited(path, manifest) : foreign(path);
}

/** Whether a file is unmodified since a run wrote it. Its header shows only that it is generated. */
function ownershipOf(
  manifest: Manifest | undefined,
  name: string,
  text: string,
): 'own' | 'edited' | 'foreign' {
  const known = manifest?.files.get(name);
  if (known?.has(contentHash(text)) === true) return 'own';
  if (hasConflictMarkers(text) && text.includes(HEADER_PREFIX)) return 'own';
  if (known !== undefined && manifest?.disputed.has(name) !== true) return 'edited';
  if (!text.startsWith(HEADER_PREFIX)) return 'foreign';
  return manifest === undefined ? 'edited' : 'own';
}

function foreign(path: string): Diagnostic {
  const message = 'fw-gen would overwrite this file, which it did not write';
  const hint = 'Move the file, set another fw.generator.output, or pass --force to replace it.';
  return diagnostic('FWGEN037', { file: path }, message, hint);
}

function edited(path: string, manifest: Manifest | undefined): Diagnostic {
  const message =
    manifest === undefined
      ? `This file is not what fw-gen would write, and without ${MANIFEST_NAME} any difference may be an edit`
      : 'This file was edited by hand after fw-gen wrote it';
  const restore =
    manifest === undefined ? `Restore ${MANIFEST_NAME}, which belongs into the commit. Or move` : 'Move';
  const hint = `${restore} the edit to the sources or to a template, then pass --force to replace the file.`;
  return diagnostic('FWGEN041', { file: path }, message, hint);
}

/** The removal of files of earlier runs whose source is gone: they would no longer compile. */
function planRemovals(
  request: PlanRequest,
  manifest: Manifest | undefined,
): readonly (FileChange | Diagnostic)[] {
  const { projectDirectory, outputFolder, emitted } = request;
  const names =
    manifest === undefined ? headedFiles(projectDirectory, outputFolder) : [...manifest.files.keys()];
  return names.filter(isBelow).flatMap((name) => {
    const path = `${outputFolder}/${name}`;
    const before = emitted.generated.has(path) ? undefined : readText(join(projectDirectory, path));
    if (before === undefined) return [];
    const isOwn = ownershipOf(manifest, name, before) === 'own';
    return isOwn || request.force === true
      ? { path, kind: 'remove' as const, before }
      : edited(path, manifest);
  });
}

/** Files with our header: the only evidence in a folder without a manifest. */
function headedFiles(projectDirectory: string, folder: string): readonly string[] {
  const absolute = join(projectDirectory, folder);
  if (!existsSync(absolute)) return [];
  return readdirSync(absolute, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => entry.name)
    .filter((name) => readText(join(absolute, name))?.startsWith(HEADER_PREFIX) === true);
}

/** A manifest may contain any paths; no file outside the output folder may be touched. */
function isBelow(name: string): boolean {
  return name !== MANIFEST_NAME && !name.startsWith('/') && !/(^|\/)\.\.?(\/|$)|\\/.test(name);
}

/** The text of a file; undefined if there is none. */
function readText(path: string): string | undefined {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  return isFile ? readFileSync(path, 'utf8') : undefined;
}
