import { posix } from 'node:path';
import { ts } from '../compiler.js';

/** Libraries of hosts, whose types are no data, and which take longer to load than everything else. */
const HOSTS = /^lib\.(dom|webworker|scripthost)\b/;

/** Returns the compiler options of the configuration nearest to a folder, changed so that it determines types of data. */
export function compilerOptions(
  folder: string,
  readFile: (path: string) => string | undefined,
): ts.CompilerOptions {
  const file = ts.findConfigFile(folder, (path) => ts.sys.fileExists(path));
  const options = file === undefined ? {} : readOptions(file, readFile);
  const libraries = options.lib?.filter((each) => !HOSTS.test(each)) ?? [];
  return {
    ...options,
    lib: libraries.length === 0 ? ['lib.es2023.d.ts'] : libraries,
    module: ts.ModuleKind.ESNext,
    // It finds what each other resolution finds.
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    resolveJsonModule: true,
    target: ts.ScriptTarget.Latest,
    strict: true,
    strictNullChecks: true,
    noEmit: true,
    noLib: false,
    noResolve: false,
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
