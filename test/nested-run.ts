import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { SERVER_VARIABLE } from './databases/server.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const VITEST = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));

export interface NestedReport {
  readonly passed: number;
  readonly failed: number;
  /** The names and errors of the tests that failed. */
  readonly failures: string;
}

/**
 * Runs test files on PostgreSQL in a separate run with its own server.
 *
 * @param variables environment of that run, in addition to this one's
 * @throws Error with the error output if the run wrote no report
 */
export async function runNested(
  files: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<NestedReport> {
  const options = ['run', ...files, '-t', 'postgresql', '--reporter=json', '--silent'];
  const child = spawn(process.execPath, [VITEST, ...options], { cwd: ROOT, env: environment(variables) });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  const start = output.indexOf('{');
  if (start < 0) throw new Error(`The nested run made no report: ${errors}`);
  const report = JSON.parse(output.slice(start)) as Report;
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    failures: describeFailures(report),
  };
}

/** The parts of Vitest's JSON report that are read here. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

function describeFailures({ testResults }: Report): string {
  return testResults
    .flatMap(({ name, message, assertionResults }) => [
      ...(message === '' ? [] : [`${name}: ${message}`]),
      ...assertionResults.flatMap(({ fullName, failureMessages = [] }) =>
        failureMessages.map((failure) => `${fullName}: ${failure}`),
      ),
    ])
    .join('\n');
}

/** This run's own settings must not affect the nested one. */
function environment(variables: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const names = Object.keys(process.env).filter(
    (name) => !name.startsWith('VITEST') && name !== SERVER_VARIABLE,
  );
  const kept = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  return { ...kept, ...variables, NO_COLOR: '1' };
}
