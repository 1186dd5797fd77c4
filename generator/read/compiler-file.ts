import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/** Returns the path of the compiler in ts-morph's package. */
export function compilerFile(): string {
  const common = createRequire(require.resolve('ts-morph')).resolve('@ts-morph/common');
  return join(dirname(common), 'typescript.js');
}
