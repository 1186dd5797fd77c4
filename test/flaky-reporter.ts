import type { Reporter, TestCase } from 'vitest/node';

/** Lists the tests that failed once and passed when repeated, with the error of the first attempt. */
export default class FlakyReporter implements Reporter {
  readonly #flaky: TestCase[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky === true) this.#flaky.push(test);
  }

  onTestRunEnd(): void {
    for (const test of this.#flaky) {
      console.log(`FLAKY ${test.module.relativeModuleId} > ${test.fullName}`);
      for (const error of test.result().errors ?? []) console.log(`  ${error.stack ?? error.message}`);
    }
  }
}
