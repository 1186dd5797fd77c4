import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contentHash, plainText } from '../content-hash.js';
import { MANIFEST_NAME } from '../schema/emitted-files.js';
import { relativePath } from '../schema/paths.js';
import { atomically } from './atomic-change.js';
import { printManifest } from './manifest.js';
import type { WritePlan } from './plan-write.js';

/**
 * Applies a plan. All new texts, also of the manifest, are first written next to their targets and then renamed, so that
 * a full disk changes nothing. If a rename fails, the earlier ones are reverted. During the renames, the manifest lists
 * both states of every file, so that the next run recognises the files of a killed run as its own.
 *
 * @throws the error of the file system; then the files are as before
 */
export function applyPlan(projectDirectory: string, outputFolder: string, plan: WritePlan): void {
  const changes = plan.changes.filter(({ kind }) => kind !== 'unchanged');
  const manifest = join(projectDirectory, outputFolder, MANIFEST_NAME);
  const before = existsSync(manifest) ? readFileSync(manifest, 'utf8') : undefined;
  const after = printManifest(plan.manifest);
  if (changes.length === 0 && before !== undefined && plainText(before) === after) return;
  atomically((change) => {
    const moves = changes.map((each) =>
      change.stage(join(projectDirectory, each.path), each.text, each.before),
    );
    const begin = change.stage(manifest, printManifest(underWay(outputFolder, plan)), before);
    const end = change.stage(manifest, after, before);
    for (const move of [begin, ...moves, end]) move();
  });
}

/** Every file with its hashes before and after this run. */
function underWay(
  outputFolder: string,
  { before: known, manifest, changes }: WritePlan,
): ReadonlyMap<string, ReadonlySet<string>> {
  const both = new Map<string, ReadonlySet<string>>(known?.files);
  for (const [name, hashes] of manifest)
    both.set(name, new Set([...(known?.files.get(name) ?? []), ...hashes]));
  for (const { path, before, text } of changes) {
    const name = relativePath(outputFolder, path);
    // A file that is rewritten with the same text has only one state.
    if (before === undefined || before === text || !both.has(name)) continue;
    both.set(name, new Set([...(both.get(name) ?? []), contentHash(before)]));
  }
  return both;
}
