import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** Compilers that must accept emitted code, by the name of their package. */
type Compiler = 'typescript-5.9' | 'typescript-6' | 'typescript';

/** The compiler, folder and options of a compilation. */
export interface CompileRequest {
  /** Absolute path; a `tsconfig.json` is written into it. */
  readonly folder: string;
  /** Folder with the declarations of the runtime, see `emitDeclarations`. */
  readonly declarations: string;
  readonly compiler: Compiler;
  readonly module: 'NodeNext' | 'bundler';
  readonly experimentalDecorators: boolean;
  /** Whether every export must have an explicit type. */
  readonly isolatedDeclarations: boolean;
  /** Whether enums and other syntax that emits code is refused. Default: false. */
  readonly erasableSyntaxOnly?: boolean;
}

/** Errors of a compiler under the strictest flags, one per line. */
export function compilerComplaints(request: CompileRequest): readonly string[] {
  const { compilerOptions } = JSON.parse(readFileSync(join(repository, 'tsconfig.base.json'), 'utf8'));
  const entry = (path: string): readonly string[] => [join(request.declarations, 'runtime', path)];
  const options = {
    ...compilerOptions,
    noEmit: true,
    isolatedDeclarations: request.isolatedDeclarations,
    declaration: request.isolatedDeclarations,
    erasableSyntaxOnly: request.erasableSyntaxOnly === true,
    experimentalDecorators: request.experimentalDecorators,
    module: request.module === 'bundler' ? 'ESNext' : 'NodeNext',
    moduleResolution: request.module,
    typeRoots: [join(repository, 'node_modules/@types')],
    paths: {
      'fw-actions': entry('index.d.ts'),
      'fw-actions/client': entry('client/index.d.ts'),
      'fw-actions/codegen': entry('codegen/index.d.ts'),
      'fw-actions/http': entry('entrances/http.d.ts'),
      'fw-actions/operate': entry('entrances/operate.d.ts'),
      'fw-actions/relay': entry('entrances/relay.d.ts'),
    },
  };
  writeFileSync(join(request.folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(
    join(request.folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, include: ['.'] }),
  );
  const tsc = join(repository, 'node_modules', request.compiler, 'bin/tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.json'], {
    cwd: request.folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout.split('\n').filter((line) => line.includes('error TS'));
}

/** Writes the declarations of the runtime into a folder, so that they are checked only once. */
export function emitDeclarations(folder: string): string {
  const tsc = join(repository, 'node_modules/typescript/bin/tsc');
  const flags = ['-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--noCheck', '--outDir', folder];
  const { status, stdout } = spawnSync(process.execPath, [tsc, ...flags], {
    cwd: repository,
    encoding: 'utf8',
  });
  if (status !== 0 && !existsSync(join(folder, 'runtime/index.d.ts'))) throw new Error(stdout);
  return folder;
}
