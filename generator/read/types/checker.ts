import { posix } from 'node:path';
import { getLibFiles } from '@ts-morph/common';
import { plainText } from '../../content-hash.js';
import type { ProjectPaths } from '../../schema/paths.js';
import { ts } from '../compiler.js';
import type { SourceFiles } from '../source-files.js';
import { compilerOptions } from './compiler-options.js';
import { FRAMEWORK_SURFACE, isFramework } from './framework-surface.js';

const LIBRARIES = '/lib-of-typescript/';
const SURFACE = '/fw-actions.d.ts';

/** So many files, one after the other, extend what the checker knows. The next one adds all sources. */
const MOST_SINGLE_FILES = 4;

const PARSED = { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone };

/** Libraries of the language by name. Each is parsed once in a process. */
const libraries = new Map<string, ts.SourceFile | undefined>();

/**
 * TypeScript's own checker, for types that the syntax alone does not determine. It is made when the first such type is
 * read, over the file with the type and what that imports, with the compiler options of the project.
 */
export class Checker {
  readonly #sources: SourceFiles;
  readonly #paths: ProjectPaths;
  readonly #roots = new Set<string>();
  readonly #foreign = new Map<string, ts.SourceFile | undefined>();
  readonly #inputs = new Set<string>();
  #files: readonly string[] = [];
  #augmenters: readonly string[] = [];
  #singleFiles = 0;
  #options: ts.CompilerOptions | undefined;
  #program: ts.Program | undefined;

  constructor(sources: SourceFiles, paths: ProjectPaths) {
    this.#sources = sources;
    this.#paths = paths;
  }

  /** Project-relative paths of what was read beside the sources: configuration of the compiler and packages. */
  get inputs(): Iterable<string> {
    return this.#inputs;
  }

  /**
   * Sets the sources of the project, all of which are included when many files need the checker.
   *
   * @param augmenters those that may declare what other files use without an import
   */
  setFiles(files: readonly string[], augmenters: readonly string[]): void {
    this.#files = files;
    this.#augmenters = augmenters;
  }

  /** Returns the interfaces that other files add to a declaration. */
  addedTo(node: ts.InterfaceDeclaration | ts.ClassDeclaration): readonly ts.InterfaceDeclaration[] {
    const { name } = node;
    if (name === undefined || !this.#augmenters.some((file) => this.#mentions(file, name.text))) return [];
    const source = node.getSourceFile();
    const declarations = this.of(source).getSymbolAtLocation(name)?.declarations ?? [];
    return declarations
      .filter((each) => ts.isInterfaceDeclaration(each))
      .filter((each) => each.getSourceFile() !== source);
  }

  #mentions(file: string, name: string): boolean {
    return this.#sources.text(file)?.includes(`interface ${name}`) === true;
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
    const options = this.#compilerOptions;
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

  /**
   * Returns the project-relative path, with its extension as written, of a source that an alias names: `paths` of the
   * compiler's options, or `imports` of the package. @returns undefined for a package
   */
  locate(specifier: string, file: string): string | undefined {
    const { paths, baseUrl } = this.#compilerOptions;
    const isImport = specifier.startsWith('#');
    if (!isImport && paths === undefined && baseUrl === undefined) return undefined;
    const found = this.#find(specifier, posix.join(this.#sources.projectDirectory, file));
    // A package of a workspace is imported by its name.
    if (found === undefined || (found.isExternalLibraryImport === true && !isImport)) return undefined;
    const path = this.#ownPath(found.resolvedFileName);
    return path !== undefined && /\.[cm]?tsx?$/.test(path) ? path : undefined;
  }

  get #compilerOptions(): ts.CompilerOptions {
    const folder = posix.join(this.#sources.projectDirectory, this.#paths.source);
    this.#options ??= compilerOptions(folder, (path) => this.#read(path));
    return this.#options;
  }

  #host(): ts.CompilerHost {
    return {
      ...this.#disk,
      getSourceFile: (file) => this.#load(file),
      getDefaultLibFileName: () => `${LIBRARIES}lib.d.ts`,
      getDefaultLibLocation: () => LIBRARIES,
      getCurrentDirectory: () => this.#sources.projectDirectory,
      getCanonicalFileName: (file) => file,
      useCaseSensitiveFileNames: () => true,
      getNewLine: () => '\n',
      writeFile: () => undefined,
      resolveModuleNameLiterals: (literals, file) =>
        literals.map(({ text }) => ({ resolvedModule: this.#resolve(text, file) })),
    };
  }

  get #disk(): ts.ModuleResolutionHost {
    return {
      // Emitted files need not exist yet.
      fileExists: (path) => ts.sys.fileExists(path) || this.#isEmitted(this.#ownPath(path)),
      directoryExists: (path) => ts.sys.directoryExists(path) || this.#isEmitted(this.#ownPath(`${path}/`)),
      realpath: (path) => ts.sys.realpath?.(path) ?? path,
      readFile: (path) => this.#read(path),
    };
  }

  #read(path: string): string | undefined {
    const text = ts.sys.readFile(path);
    if (text === undefined) return undefined;
    this.#inputs.add(posix.relative(this.#sources.projectDirectory, path));
    return plainText(text);
  }

  /** The trees of sources are those of the reader, so that it can ask about their nodes. */
  #load(file: string): ts.SourceFile | undefined {
    if (file.startsWith(LIBRARIES)) return loadLibrary(file);
    if (!posix.isAbsolute(file)) return this.#sources.load(file);
    if (!this.#foreign.has(file)) {
      const text = file === SURFACE ? FRAMEWORK_SURFACE : this.#read(file);
      const tree = text === undefined ? undefined : ts.createSourceFile(file, text, PARSED, true);
      this.#foreign.set(file, tree);
    }
    return this.#foreign.get(file);
  }

  #resolve(specifier: string, file: string): ts.ResolvedModuleFull | undefined {
    if (isFramework(specifier)) return { resolvedFileName: SURFACE, extension: ts.Extension.Dts };
    const own = this.#ownPath(file);
    if (own === undefined || !/^\.\.?(\/|$)/.test(specifier) || specifier.endsWith('.json'))
      return this.#resolvePackage(specifier, file);
    const source = this.#sources.loadImport(posix.join(posix.dirname(own), specifier));
    return source === undefined ? undefined : this.#source(source.fileName);
  }

  #resolvePackage(specifier: string, file: string): ts.ResolvedModuleFull | undefined {
    const resolved = this.#find(specifier, file);
    if (resolved === undefined || /\.[cm]?jsx?$/.test(resolved.resolvedFileName)) return undefined;
    const own = this.#ownPath(resolved.resolvedFileName);
    return own === undefined || !/\.[cm]?tsx?$/.test(own) ? resolved : this.#source(own);
  }

  #find(specifier: string, file: string): ts.ResolvedModuleFull | undefined {
    const options = this.#compilerOptions;
    const mode = ts.ModuleKind.ESNext;
    return ts.resolveModuleName(specifier, file, options, this.#disk, undefined, undefined, mode)
      .resolvedModule;
  }

  /** What the generator has emitted does not determine what it emits. */
  #source(path: string): ts.ResolvedModuleFull | undefined {
    if (this.#isEmitted(path)) return undefined;
    return { resolvedFileName: path, extension: posix.extname(path), isExternalLibraryImport: false };
  }

  #isEmitted(path: string | undefined): boolean {
    return path?.startsWith(`${this.#paths.output}/`) === true;
  }

  /** Returns the project-relative path of a file in the project's folder, unless it belongs to a package. */
  #ownPath(file: string): string | undefined {
    const folder = `${this.#sources.projectDirectory}/`;
    const path = file.startsWith(folder) ? file.slice(folder.length) : undefined;
    return path === undefined || /(^|\/)node_modules\//.test(path) ? undefined : path;
  }
}

function loadLibrary(file: string): ts.SourceFile | undefined {
  const name = file.slice(LIBRARIES.length);
  if (!libraries.has(name)) {
    const text = getLibFiles().find(({ fileName }) => fileName === name)?.text;
    libraries.set(name, text === undefined ? undefined : ts.createSourceFile(file, text, PARSED, true));
  }
  return libraries.get(name);
}
