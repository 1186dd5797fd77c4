import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BuiltProgram, copyProgram } from '../generator/test-support/built-program.js';
import { type TestProject, testProject } from '../generator/test-support/projects.js';

let program: BuiltProgram;
let project: TestProject;

beforeAll(() => {
  program = copyProgram();
  project = testProject();
  // More than a pipe holds.
  const file = 'src/models/customer.ts';
  const words = 'A long description. '.repeat(10_000);
  project.write(file, project.read(file).replace('@AutoBuilder', `/** ${words}*/\n@AutoBuilder`));
});

afterAll(() => {
  program.delete();
  project.delete();
});

/** Runs a command after its reader has closed the pipe. @param closed the stream that has the pipe */
function run(command: string, closed: 'stdout' | 'stderr' = 'stdout'): readonly [number | null, string] {
  const streams = closed === 'stdout' ? '' : '2>&1 >"$OTHER"';
  const script = `mkfifo "$GATE"
{ cat "$GATE" >"$OTHER"; "$NODE" "$BIN" ${command} ${streams}; } | { exec 0<&-; echo >"$GATE"; }
code=\${PIPESTATUS[0]}
rm "$GATE"
exit $code`;
  const { status, stderr } = spawnSync('bash', ['-c', script], {
    cwd: project.folder,
    encoding: 'utf8',
    env: {
      ...process.env,
      NODE: process.execPath,
      BIN: program.bin,
      GATE: join(project.folder, 'gate'),
      OTHER: join(project.folder, 'other.txt'),
    },
  });
  return [status, stderr];
}

describe('a command whose reader has left ends as without one', () => {
  test.each([
    'generate',
    'generate',
    'generate --check --format json',
    'generate --check --format sarif',
    'generate --check --format github',
    'generate --watch',
    'openapi',
    'explain src/models/customer.ts',
    'templates list',
    'config check',
    'config print',
    'config schema',
    'migrate diff --dry-run',
    'migrate status --help',
    '--help',
    '--version',
  ])('fw-gen %s', (command) => {
    expect(run(command)).toEqual([0, '']);
  });

  test('also if it fails, and if only its errors have no reader', () => {
    expect(run('explain FWGEN999', 'stderr')).toEqual([2, '']);
    expect(run('generate --config absent.yaml', 'stderr')).toEqual([2, '']);
  });
});

test('output that cannot be written for another reason is a failure', () => {
  const script = `"${process.execPath}" "${program.bin}" config schema >/dev/full`;
  const { status, stderr } = spawnSync('bash', ['-c', script], { cwd: project.folder, encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^The output cannot be written: ENOSPC.*\n$/)]);
});
