import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { modelText } from './projects.js';

/** Chooses an integer below a limit. A multiplicative congruential generator is good enough for choosing edits. */
export type Choose = (below: number) => number;

export function chooserFrom(seed: number): Choose {
  let state = (seed % 2147483646) + 1;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

/** Paths of a project's sources below `src`, sorted. */
export function sourcesOf(folder: string): readonly string[] {
  return readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/^(generated|migrations)/.test(name))
    .map((name) => `src/${name}`)
    .sort();
}

/** Texts of a project's sources by path. */
export function textsOf(folder: string): ReadonlyMap<string, string> {
  return new Map(sourcesOf(folder).map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}

/**
 * One edit of a source tree: a renamed field, a truncated text, or a removed, added, moved or restored file.
 * @returns its files
 */
export function editSources(
  folder: string,
  choose: Choose,
  originals: ReadonlyMap<string, string>,
): readonly string[] {
  const files = sourcesOf(folder);
  const file = files[choose(files.length)] ?? '';
  const write = (path: string, text: string): readonly string[] => {
    writeFileSync(join(folder, path), text);
    return [path];
  };
  const text = readFileSync(join(folder, file), 'utf8');
  const [known = '', original = ''] = [...originals][choose(originals.size)] ?? [];
  switch (choose(8)) {
    case 0:
      return write(
        file,
        text.replace(/readonly (\w+)/, (_all, name) => `readonly ${name}${choose(9)}`),
      );
    case 1:
      return write(file, text.slice(0, choose(text.length)));
    case 2:
      rmSync(join(folder, file));
      return [file];
    case 3:
      return write(`src/models/extra${choose(5)}.ts`, modelText(`Extra${choose(5)}`, `field${choose(3)}`));
    case 4: {
      const target = file.replace(/\.ts$/, `-${choose(9)}.ts`);
      rmSync(join(folder, file));
      return [file, ...write(target, text)];
    }
    case 5:
      return write(file, `// A line more.\n${text}`);
    default:
      return write(known, original);
  }
}

/** One edit that affects only a model itself: the type of one of its fields, or a comment. @returns its file */
export function editBody(folder: string, choose: Choose): readonly string[] {
  const models = sourcesOf(folder).filter((path) =>
    readFileSync(join(folder, path), 'utf8').includes('@AutoBuilder'),
  );
  const path = models[choose(Math.max(1, models.length))];
  if (path === undefined) return [];
  const text = readFileSync(join(folder, path), 'utf8');
  const fields = [...text.matchAll(/^ {2}readonly \w+[!?]?: ([^;\n]+);/gm)];
  const field = fields[choose(Math.max(1, fields.length))];
  if (field === undefined) return [];
  const type = BODY_TYPES[choose(BODY_TYPES.length)] ?? '';
  const line =
    choose(3) === 0 ? `  /** Number ${choose(9)}. */\n${field[0]}` : field[0].replace(/: .*/, `: ${type};`);
  const after = text.slice(field.index + field[0].length);
  writeFileSync(join(folder, path), `${text.slice(0, field.index)}${line}${after}`);
  return [path];
}

/** The last one is a mistake. */
const BODY_TYPES: readonly string[] = ['string', 'number', 'boolean | null', 'Date', 'bigint', 'RegExp'];

/** Restores a source tree. @returns the changed files */
export function restoreSources(folder: string, originals: ReadonlyMap<string, string>): readonly string[] {
  const added = sourcesOf(folder).filter((path) => !originals.has(path));
  for (const path of added) rmSync(join(folder, path));
  for (const [path, text] of originals) writeFileSync(join(folder, path), text);
  return [...added, ...originals.keys()];
}
