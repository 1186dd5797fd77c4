import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { VERSION_VARIABLE } from '../../runtime/testing/databases-binaries.js';
import { SERVER_VARIABLE } from '../../runtime/testing/databases-server.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const VITEST = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));

/** A share of what `npm run proof:versions` runs on every version: keys, what is due, migrations. */
const SHARE = [
  'runtime/execution/key-guard.db.test.ts',
  'runtime/events/schedules.db.test.ts',
  'runtime/migration/drift.db.test.ts',
];

/** This run's own settings must not reach the other one. */
function environment(): NodeJS.ProcessEnv {
  const names = Object.keys(process.env).filter(
    (name) => !name.startsWith('VITEST') && name !== SERVER_VARIABLE,
  );
  const kept = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  return { ...kept, [VERSION_VARIABLE]: '14', NO_COLOR: '1' };
}

test('executor, delivery and migrations work on the oldest version of PostgreSQL that is promised', async () => {
  const options = ['run', ...SHARE, '-t', 'postgresql', '--reporter=json', '--silent'];
  const child = spawn(process.execPath, [VITEST, ...options], { cwd: ROOT, env: environment() });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  const start = output.indexOf('{');
  expect(start, errors).toBeGreaterThanOrEqual(0);
  const report = JSON.parse(output.slice(start)) as { numPassedTests: number; numFailedTests: number };
  expect(report.numFailedTests, output.slice(0, 20_000)).toBe(0);
  expect(report.numPassedTests).toBeGreaterThan(15);
}, 300_000);
