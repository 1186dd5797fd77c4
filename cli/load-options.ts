import type { GenerateOptions } from '../generator/generate.js';
import { defined } from '../generator/schema/defined.js';
import { ConfigurationError } from '../runtime/config/index.js';
import { generateOptions, readProjectConfig } from './project.js';
import type { ReportedProblem } from './report/report.js';

/** The generator's settings in a configuration, or the mistakes. */
export type LoadedOptions =
  | { readonly options: GenerateOptions }
  | { readonly problems: readonly ReportedProblem[] };

/** Reads a configuration, without the secrets of the application. */
export function loadOptions(file: string): LoadedOptions {
  try {
    return { options: generateOptions(readProjectConfig(file)) };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return {
      problems: error.problems.map(({ line, column, path, message, hint }) => ({
        code: 'FWCONFIG',
        location: { file, ...defined({ line, column }) },
        message: path === '' ? message : `${path}: ${message}`,
        hint: hint ?? 'See docs/configuration.md of fw-actions for every key.',
      })),
    };
  }
}
