import { posix } from 'node:path';
import { plainText } from '../../content-hash.js';
import type { ProjectPaths } from '../../schema/paths.js';
import { ts } from '../compiler.js';
import { importPath } from '../module-names.js';
import type { SourceFiles } from '../source-files.js';
import { compilerOptions } from './compiler-options.js';
import { isFramework } from './framework-surface.js';

/** Path of the declarations of this package, as the checker sees them. */
export const SURFACE = '/fw-actions.d.ts';

/** Finds the files that imports name, by the compiler options of the project and beside the sources. */
export class ModuleResolution {
  readonly #sources: SourceFiles;
  readonly #paths: ProjectPaths;
  /** Project-relative paths of what was read beside the sources: configuration of the compiler and packages. */
  readonly inputs: Set<string> = new Set();
  #options: ts.CompilerOptions | undefined;

  constructor(sources: SourceFiles, paths: ProjectPaths) {
    this.#sources = sources;
    this.#paths = paths;
  }

  /**
   * Returns the project-relative path, with its extension as written, of a source that an alias names: `paths` of the
   * compiler's options, or `imports` of the package. @returns undefined for a package
   */
  locate(specifier: string, file: string): string | undefined {
    const { paths, baseUrl } = this.options;
    const isImport = specifier.startsWith('#');
    if (!isImport && paths === undefined && baseUrl === undefined) return undefined;
    const found = this.#find(specifier, posix.join(this.#sources.projectDirectory, file));
    // A package of a workspace is imported by its name.
    if (found === undefined || (found.isExternalLibraryImport === true && !isImport)) return undefined;
    const path = this.#ownPath(found.resolvedFileName);
    return path !== undefined && /\.[cm]?tsx?$/.test(path) ? path : undefined;
  }

  /** The compiler options of the project. */
  get options(): ts.CompilerOptions {
    const folder = posix.join(this.#sources.projectDirectory, this.#paths.source);
    this.#options ??= compilerOptions(folder, (path) => this.read(path));
    return this.#options;
  }

  /** The files that exist, or will once they are emitted. */
  get disk(): ts.ModuleResolutionHost {
    return {
      // Emitted files need not exist yet.
      fileExists: (path) =>
        ts.sys.fileExists(path) || (path.endsWith('.ts') && this.#isEmitted(this.#ownPath(path))),
      directoryExists: (path) => ts.sys.directoryExists(path) || this.#isEmitted(this.#ownPath(`${path}/`)),
      realpath: (path) => ts.sys.realpath?.(path) ?? path,
      readFile: (path) => this.read(path),
    };
  }

  /** The text of a file that is no source; it becomes one of the inputs. */
  read(path: string): string | undefined {
    const text = ts.sys.readFile(path);
    if (text === undefined) return undefined;
    this.inputs.add(posix.relative(this.#sources.projectDirectory, path));
    return plainText(text);
  }

  /** The file that an import names. */
  resolve(specifier: string, file: string): ts.ResolvedModuleFull | undefined {
    if (isFramework(specifier)) return { resolvedFileName: SURFACE, extension: ts.Extension.Dts };
    const own = this.#ownPath(file);
    const isSource = own !== undefined && !specifier.endsWith('.json');
    const path = isSource ? importPath(specifier, own) : undefined;
    if (path === undefined) return this.#resolvePackage(specifier, file);
    // An emitted file may have the markers of a merge conflict.
    const source = this.#isEmitted(path) ? undefined : this.#sources.loadImport(path);
    return source === undefined ? undefined : this.#source(source.fileName);
  }

  #resolvePackage(specifier: string, file: string): ts.ResolvedModuleFull | undefined {
    const resolved = this.#find(specifier, file);
    if (resolved === undefined || /\.[cm]?jsx?$/.test(resolved.resolvedFileName)) return undefined;
    const own = this.#ownPath(resolved.resolvedFileName);
    return own === undefined || !/\.[cm]?tsx?$/.test(own) ? resolved : this.#source(own);
  }

  #find(specifier: string, file: string): ts.ResolvedModuleFull | undefined {
    const options = this.options;
    const mode = ts.ModuleKind.ESNext;
    return ts.resolveModuleName(specifier, file, options, this.disk, undefined, undefined, mode)
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
