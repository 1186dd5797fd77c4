import { expect, test } from 'vitest';
import { CODEGEN_VERSION as runtimeVersion } from '../../runtime/codegen/version.js';
import { CODEGEN_VERSION } from './codegen-version.js';

test('code is emitted for the contract of the runtime in the same package', () => {
  expect(CODEGEN_VERSION).toBe(runtimeVersion);
});
