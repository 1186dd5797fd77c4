import { dirname, relative, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { relativeTo } from '../check/check-folders.js';
import type { CommandContext } from './command-context.js';
import { EXIT, type ExitCode } from './exit.js';
import { FolderWatcher } from './folder-watcher.js';
import { type GenerateFlags, generateOnce, loadGenerator } from './generate-command.js';
import { changedPaths, type Snapshot, takeSnapshot } from './snapshot.js';

/** Generates whenever something changed, until the signal is given. Mistakes are shown and waited out. */
export async function watchCommand(flags: GenerateFlags, context: CommandContext): Promise<ExitCode> {
  const { RunMemory } = await import('../watch.js');
  const projectDirectory = dirname(resolve(flags.config));
  const memory = new RunMemory();
  const watcher = new FolderWatcher();
  let before: Snapshot | undefined;
  try {
    while (!context.signal.aborted) {
      const after = look(flags.config, projectDirectory);
      watcher.watchOnly([...after.folders, projectDirectory]);
      const changed = changedPaths(before ?? NOTHING, after);
      if (changed.length > 0 || before === undefined) {
        memory.forget(changed.map((path) => relativeTo(projectDirectory, path)));
        await generateOnce(flags, context, memory);
        // A run waits for nothing: without a turn of the event loop, signals would wait for changes to end.
        await nextTurn();
        // Taken before the run: what changed meanwhile, our own files included, is looked at again.
        before = after;
        continue;
      }
      await watcher.nextChange(context.signal);
    }
  } finally {
    watcher.close();
  }
  return EXIT.success;
}

const NOTHING: Snapshot = { files: new Map(), folders: [] };

/** Sources, templates and output as far as the configuration can be read; without it, the configuration alone. */
function look(configFile: string, projectDirectory: string): Snapshot {
  const config = resolve(configFile);
  const loaded = loadGenerator(configFile);
  if ('problems' in loaded) return takeSnapshot([], [config]);
  const { sourceDirectory, outputDirectory, migrationsDirectory, templatesDirectory } = loaded.options;
  const folders = [
    sourceDirectory,
    outputDirectory,
    migrationsDirectory,
    ...(templatesDirectory ? [templatesDirectory] : []),
  ];
  const inside = folders.filter((folder) => !relative(projectDirectory, folder).startsWith('..'));
  return takeSnapshot(inside, [config]);
}
