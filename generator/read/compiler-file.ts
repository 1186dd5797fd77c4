import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/** The file of its own in which ts-morph keeps the compiler. */
export function compilerFile(): string {
  const common = createRequire(require.resolve('ts-morph')).resolve('@ts-morph/common');
  return join(dirname(common), 'typescript.js');
}
