import type { Reporter, TestCase } from 'vitest/node';

/** Names the tests that failed once and passed when they were run again, with the error of the first try. */
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
