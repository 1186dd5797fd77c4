import { expect, test } from 'vitest';
import { problemText } from './text-report.js';

test('the lines around a mistake are shown, but not those of a configuration, which may have a password', () => {
  const location = { file: 'a', line: 2, column: 1 };
  const options = { sourceText: () => 'password: topsecret\nwrong: 1' };
  const textOf = (code: 'FWCONFIG' | 'FWGEN003'): string =>
    problemText({ code, location, message: 'is wrong', hint: 'Mend it.' }, options);
  expect(textOf('FWGEN003')).toContain('topsecret');
  expect(textOf('FWCONFIG')).toContain('a:2:1 FWCONFIG is wrong');
  expect(textOf('FWCONFIG')).not.toContain('topsecret');
});
