import { posix } from 'node:path';
import { getLibFiles } from '@ts-morph/common';
import { attempt } from '../attempt.js';
import { ts } from '../compiler.js';
import { namesIn } from '../module-names.js';
import type { SourceFiles } from '../source-files.js';
import { FRAMEWORK_SURFACE } from './framework-surface.js';
import { type ModuleResolution, SURFACE } from './module-resolution.js';

const LIBRARIES = '/lib-of-typescript/';

/** Adds to what other files of the project see, without an import. */
const AUGMENTS = /\bdeclare\s+(global\b|module\s+['"]\.\.?\/)/;

/** A declaration at the start of a line. */
const DECLARES = /^[ \t]*(declare|interface|type)\b/m;

/** So many files, one after the other, extend what the checker knows. The next one adds all sources. */
const MOST_SINGLE_FILES = 4;

const PARSED = { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone };

/** Libraries of the language by path. Each is parsed once in a process. */
const libraries = new Map<string, ts.SourceFile | undefined>();

/**
 * TypeScript's own checker, for types that the syntax alone does not determine. It is made when the first such type is
 * read, over the file with the type and what that imports, with the compiler options of the project.
 */
export class Checker {
  readonly #sources: SourceFiles;
  readonly #modules: ModuleResolution;
  readonly #roots = new Set<string>();
  readonly #foreign = new Map<string, ts.SourceFile | undefined>();
  readonly #files: readonly string[];
  readonly #augmenters: readonly string[];
  #singleFiles = 0;
  #program: ts.Program | undefined;

  /** @param files the sources of the project, all of which are included when many files need the checker */
  constructor(sources: SourceFiles, modules: ModuleResolution, files: readonly string[]) {
    this.#sources = sources;
    this.#modules = modules;
    this.#files = files;
    this.#augmenters = files.filter((file) => mayAugment(sources, file));
  }

  /**
   * Returns the interfaces that the compiler merges with a declaration: those of its name in its file, then those that
   * other files add in `declare module './file.js'`.
   */
  interfacesOf(node: ts.InterfaceDeclaration | ts.ClassDeclaration): readonly ts.InterfaceDeclaration[] {
    const { name } = node;
    if (name === undefined) return [];
    const source = node.getSourceFile();
    const own = namesIn(source).declarations.get(name.text)?.filter(ts.isInterfaceDeclaration) ?? [];
    const isAdded = this.#augmenters.some((file) =>
      this.#sources.text(file)?.includes(`interface ${name.text}`),
    );
    if (!isAdded) return own;
    const all = this.of(source).getSymbolAtLocation(name)?.declarations ?? [];
    return [
      ...own,
      ...all.filter(ts.isInterfaceDeclaration).filter((each) => each.getSourceFile() !== source),
    ];
  }

  /** Returns a checker that knows a file. */
  of(source: ts.SourceFile): ts.TypeChecker {
    if (this.#program?.getSourceFile(source.fileName) !== source) this.#program = this.#extend(source);
    return this.#program.getTypeChecker();
  }

  #extend(source: ts.SourceFile): ts.Program {
    this.#singleFiles += 1;
    const more = this.#singleFiles > MOST_SINGLE_FILES ? this.#files : [];
    for (const file of [source.fileName, ...this.#augmenters, ...more]) this.#roots.add(file);
    const { options } = this.#modules;
    return ts.createProgram({ rootNames: [...this.#roots], options, host: this.#host() });
  }

  /** Whether a node is in a source of the project. */
  isOwn(node: ts.Node): boolean {
    const { fileName } = node.getSourceFile();
    return !posix.isAbsolute(fileName) && this.#sources.load(fileName) === node.getSourceFile();
  }

  /** Whether a node is in the declarations of this package. */
  isFramework(node: ts.Node): boolean {
    return node.getSourceFile().fileName === SURFACE;
  }

  /** Whether a node is in a library of the language. */
  isLibrary(node: ts.Node): boolean {
    return node.getSourceFile().fileName.startsWith(LIBRARIES);
  }

  #host(): ts.CompilerHost {
    return {
      ...this.#modules.disk,
      getSourceFile: (file) => this.#load(file),
      getDefaultLibFileName: () => `${LIBRARIES}lib.d.ts`,
      getDefaultLibLocation: () => LIBRARIES,
      getCurrentDirectory: () => this.#sources.projectDirectory,
      getCanonicalFileName: (file) => file,
      useCaseSensitiveFileNames: () => true,
      getNewLine: () => '\n',
      writeFile: () => undefined,
      resolveModuleNameLiterals: (literals, file) =>
        literals.map(({ text }) => ({ resolvedModule: this.#modules.resolve(text, file) })),
    };
  }

  /** The trees of sources are those of the reader, so that it can ask about their nodes. */
  #load(file: string): ts.SourceFile | undefined {
    if (!posix.isAbsolute(file)) return this.#sources.load(file);
    const trees = file.startsWith(LIBRARIES) ? libraries : this.#foreign;
    if (!trees.has(file)) {
      const text = this.#textOf(file);
      trees.set(file, text === undefined ? undefined : ts.createSourceFile(file, text, PARSED, true));
    }
    return trees.get(file);
  }

  #textOf(file: string): string | undefined {
    if (file === SURFACE) return FRAMEWORK_SURFACE;
    if (!file.startsWith(LIBRARIES)) return this.#modules.read(file);
    return getLibFiles().find(({ fileName }) => file === `${LIBRARIES}${fileName}`)?.text;
  }
}

/** Whether a file may declare what others use without an import. */
function mayAugment(sources: SourceFiles, file: string): boolean {
  // An error of the disk is reported when the file is read.
  const text = attempt([], file, () => sources.text(file)) ?? '';
  return AUGMENTS.test(text) || (file.endsWith('.d.ts') && DECLARES.test(text));
}
