import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const LOGGER = join(import.meta.dirname, '../../dist/runtime/observability/logger.js');
const PROGRAM = `
import { defaultLogger } from ${JSON.stringify(LOGGER)};
const log = defaultLogger();
for (let entry = 0; entry < 3; entry += 1) {
  log.error({}, 'an entry');
  await new Promise((resolve) => setTimeout(resolve, 10));
}
console.log('alive');
`;

test('a process goes on if its log cannot be written', () => {
  const full = openSync('/dev/full', 'w');
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    stdio: ['ignore', 'pipe', full],
    encoding: 'utf8',
  });
  closeSync(full);
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'alive\n' });
});
