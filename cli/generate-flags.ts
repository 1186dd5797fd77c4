import { parseArgs } from 'node:util';
import type { Format } from './report/report.js';

type Flag = 'check' | 'dryRun' | 'strict' | 'watch' | 'force' | 'timing' | 'quiet';

/** Options of `fw-gen generate`, as parsed. */
export interface GenerateFlags extends Readonly<Partial<Record<Flag, boolean | undefined>>> {
  readonly config: string;
  readonly format: Format;
}

const FLAG = { type: 'boolean' } as const;
const OPTIONS = {
  config: { type: 'string', default: 'fw.config.yaml' },
  format: { type: 'string', multiple: true },
  check: FLAG,
  'dry-run': FLAG,
  strict: FLAG,
  force: FLAG,
  timing: FLAG,
  quiet: FLAG,
} as const;

/**
 * Parses a plain `generate` command line without loading the parser of all commands. Undefined for every other one,
 * including invalid ones and `--watch`.
 */
export function plainGenerate([command, ...args]: readonly string[]): GenerateFlags | undefined {
  if (command !== 'generate') return undefined;
  try {
    const { values } = parseArgs({ args, options: OPTIONS });
    const { 'dry-run': dryRun, format: formats = ['text'], ...flags } = values;
    const format = formats.filter(isFormat).at(-1);
    if (format === undefined || !formats.every(isFormat)) return undefined;
    return { ...flags, format, ...(dryRun === undefined ? {} : { dryRun }) };
  } catch {
    return undefined;
  }
}

function isFormat(text: string): text is Format {
  return /^(text|json|github|sarif)$/.test(text);
}
