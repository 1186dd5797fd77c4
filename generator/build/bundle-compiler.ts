import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { compilerFile } from '../read/compiler-file.js';

const BEGIN = 'var ts = {}; ((module) => {';
const TABLE = '__export(typescript_exports, {';
const EXPORTS = 'module.exports = __toCommonJS(typescript_exports);';
/** The code after this mark serves editors. */
const SERVER = '\n// src/server/';

/** Functions without side effects, or that only register features of editors. */
const PURE = [
  '__export',
  'arrayToNumericMap',
  'createBinaryExpressionTrampoline',
  'createMultiMap',
  'createScanner',
  'diag',
  'getOwnValues',
  'makeReverseMap',
  'mapDefined',
  'memoize',
  'punctuationPart',
  'registerCodeFix',
  'registerRefactor',
  'spacePart',
];

/**
 * Bundles the part of ts-morph's compiler that the reader uses, which is its parser. The whole compiler is five times
 * as large, and loading it takes longer than reading an edited file. The bundler only removes unused code.
 *
 * @param generator folder of the built generator
 * @param folder of the bundle
 */
export async function bundleCompiler(generator: string, folder: string): Promise<void> {
  const whole = readFileSync(compilerFile(), 'utf8');
  const begin = positionOf(BEGIN, whole);
  const draft = join(folder, 'compiler-draft.mjs');
  writeFileSync(draft, moduleOf(whole.slice(begin + BEGIN.length), usedNames(join(generator, 'read'))));
  const build = await rolldown({
    input: draft,
    platform: 'node',
    treeshake: { manualPureFunctions: PURE, propertyReadSideEffects: false, unknownGlobalSideEffects: false },
  });
  await build.write({
    file: join(folder, 'compiler.cjs'),
    format: 'cjs',
    banner: `${whole.slice(0, begin).trimEnd()}\n${NOTICE}`,
    comments: false,
  });
  await build.close();
  rmSync(draft);
  const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
  copyFileSync(join(typescript, 'LICENSE'), join(folder, 'compiler.LICENSE.txt'));
}

const NOTICE = '/*! Parts of the compiler that fw-gen does not use are left out of this file. */\n';

/** Returns the compiler as a module with the exports that the reader uses, so that the bundler can find unused code. */
function moduleOf(body: string, names: ReadonlySet<string>): string {
  const table = positionOf(TABLE, body);
  const end = positionOf('});', body, table);
  const locals = new Map(
    [...body.slice(table, end).matchAll(/^\s+(\w+): \(\) => (\w+)/gm)].map(([, name = '', local = '']) => [
      name,
      local,
    ]),
  );
  const exported = [...names].map((name) => {
    const local = locals.get(name);
    if (local === undefined) throw new Error(`The compiler has no ${name}`);
    return `${local} as ${name}`;
  });
  const code = body.slice(end + '});'.length, positionOf(SERVER, body)).replace(EXPORTS, '');
  return `${body.slice(0, table)}${code}\nexport { ${exported.join(', ')} };\n`;
}

/** Returns the compiler's names that the built reader uses. */
function usedNames(read: string): ReadonlySet<string> {
  const files = readdirSync(read, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.js'),
  );
  const texts = files.map((name) => readFileSync(join(read, name), 'utf8'));
  return new Set(
    texts.flatMap((text) => [...text.matchAll(/\bts\.([A-Za-z]\w*)/g)].map(([, name = '']) => name)),
  );
}

/** @throws an error if the compiler has another structure than expected */
function positionOf(mark: string, text: string, from = 0): number {
  const position = text.indexOf(mark, from);
  if (position < 0) throw new Error(`The compiler that ts-morph bundles has no ${JSON.stringify(mark)}`);
  return position;
}
