import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const DIST = join(import.meta.dirname, '../../dist/runtime');

test.each([
  ['observability/logger.js', "defaultLogger().error({}, 'an entry')"],
  ['http/process/process-port.js', "systemProcess.stderr('a line')"],
])('a process goes on if its log cannot be written: %s', (module, write) => {
  const program = `
import * as module from ${JSON.stringify(join(DIST, module))};
for (let entry = 0; entry < 3; entry += 1) {
  module.${write};
  await new Promise((resolve) => setTimeout(resolve, 10));
}
console.log('alive');
`;
  const full = openSync('/dev/full', 'w');
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', full],
    encoding: 'utf8',
  });
  closeSync(full);
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'alive\n' });
});
