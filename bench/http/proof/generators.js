// Generates clients from the wallet's API document: TypeScript types by openapi-typescript, Java and Python by
// openapi-generator, and compiles them. Needs npm; Java with Maven and Python are used where they are there.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const OPENAPI_TYPESCRIPT = 'openapi-typescript@7.13.0';
const GENERATOR = 'org.openapitools:openapi-generator-cli:7.17.0';

const folder = mkdtempSync(join(tmpdir(), 'fw-proof-openapi-'));
const document = join(folder, 'openapi.json');
try {
  run(process.execPath, [join(ROOT, 'bin/fw-gen.js'), 'openapi', '--out', document], ROOT);
  run('npx', ['--yes', OPENAPI_TYPESCRIPT, document, '-o', join(folder, 'api.d.ts')]);
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  run(process.execPath, [tsc, '--noEmit', '--strict', '--types', '', join(folder, 'api.d.ts')]);
  console.log('openapi-typescript: the types compile');
  if (!isThere('java') || !isThere('mvn')) console.log('no Java with Maven: openapi-generator was left out');
  else {
    run('mvn', ['-q', '-B', 'dependency:copy', `-Dartifact=${GENERATOR}`, `-DoutputDirectory=${folder}`]);
    generate('java', ['--library', 'native']);
    run('mvn', ['-q', '-B', 'compile'], join(folder, 'java'));
    console.log('openapi-generator: the Java client compiles');
    generate('python', []);
    if (!isThere('python3')) console.log('no Python: its client was left as generated');
    else {
      run('python3', ['-m', 'compileall', '-q', join(folder, 'python')]);
      console.log('openapi-generator: the Python client compiles');
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function generate(language, options) {
  const jar = readdirSync(folder).find((name) => name.endsWith('.jar'));
  if (jar === undefined) throw new Error(`${folder} contains no .jar`);
  const output = join(folder, language);
  run('java', [
    '-jar',
    join(folder, jar),
    'generate',
    '-i',
    document,
    '-g',
    language,
    '-o',
    output,
    ...options,
  ]);
}

function isThere(program) {
  return spawnSync(program, [program === 'mvn' ? '-v' : '--version']).error === undefined;
}

function run(program, args, cwd = folder) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (status === 0) return;
  throw new Error(`${program} ${args.join(' ')} ended with ${status}\n${stdout}\n${stderr}`);
}
