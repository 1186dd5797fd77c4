import { posix } from 'node:path';
import { defined } from '../../schema/defined.js';
import { ts } from '../compiler.js';

/** Libraries of hosts, whose types are no data, and which take longer to load than everything else. */
const HOSTS = /^lib\.(dom|webworker|scripthost)\b/;

/** Returns the compiler options of the configuration nearest to a folder, as far as they determine types of data. */
export function compilerOptions(
  folder: string,
  readFile: (path: string) => string | undefined,
): ts.CompilerOptions {
  const file = ts.findConfigFile(folder, (path) => ts.sys.fileExists(path));
  const { lib, paths, baseUrl, pathsBasePath, customConditions, ...others } =
    file === undefined ? {} : readOptions(file, readFile);
  const libraries = lib?.filter((each) => !HOSTS.test(each)) ?? [];
  // They lead from compiled files, which the `imports` of a package may name, to their sources.
  const { rootDir, outDir, declarationDir, composite, configFilePath } = others;
  return {
    ...defined({ paths, baseUrl, pathsBasePath, customConditions }),
    ...defined({ rootDir, outDir, declarationDir, composite, configFilePath }),
    exactOptionalPropertyTypes: others.exactOptionalPropertyTypes === true,
    noUncheckedIndexedAccess: others.noUncheckedIndexedAccess === true,
    lib: libraries.length === 0 ? ['lib.es2023.d.ts'] : libraries,
    module: ts.ModuleKind.ESNext,
    // It finds what each other resolution finds.
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    resolveJsonModule: true,
    target: ts.ScriptTarget.Latest,
    strict: true,
    noEmit: true,
    types: [],
  };
}

function readOptions(file: string, readFile: (path: string) => string | undefined): ts.CompilerOptions {
  const host: ts.ParseConfigHost = {
    useCaseSensitiveFileNames: true,
    fileExists: (path) => ts.sys.fileExists(path),
    readFile,
    // The files of the configuration are not needed, only its options.
    readDirectory: () => [],
  };
  const { config } = ts.readConfigFile(file, readFile);
  return ts.parseJsonConfigFileContent(config ?? {}, host, posix.dirname(file), undefined, file).options;
}
