import { parseArgs } from 'node:util';

const FLAG = { type: 'boolean' } as const;
const OPTIONS = {
  config: { type: 'string', default: 'fw.config.yaml' },
  check: FLAG,
  quiet: FLAG,
} as const;

/** The options of a `generate` that the stamp of an earlier run can answer. */
export interface PlainGenerate {
  readonly config: string;
  readonly check?: boolean;
  readonly quiet?: boolean;
}

/** Reads them without loading the parser of all commands. Undefined for every other command line. */
export function plainGenerate([command, ...args]: readonly string[]): PlainGenerate | undefined {
  if (command !== 'generate') return undefined;
  try {
    return parseArgs({ args, options: OPTIONS }).values;
  } catch {
    return undefined;
  }
}
