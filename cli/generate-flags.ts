import type { Format } from './report/report.js';

/** Options of `fw-gen generate`, as parsed. */
export interface GenerateFlags {
  readonly config: string;
  readonly check?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  readonly strict?: boolean | undefined;
  readonly watch?: boolean | undefined;
  readonly clean?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly timing?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  readonly format: Format;
}

const SWITCHES: Readonly<Record<string, Partial<GenerateFlags>>> = {
  '--check': { check: true },
  '--dry-run': { dryRun: true },
  '--strict': { strict: true },
  '--clean': { clean: true },
  '--force': { force: true },
  '--timing': { timing: true },
  '--quiet': { quiet: true },
};

const FORMAT_FLAGS: Readonly<Record<string, Format>> = {
  text: 'text',
  json: 'json',
  github: 'github',
  sarif: 'sarif',
};

/**
 * Parses a plain `generate` command line without loading the parser. Undefined for every other one, including invalid
 * ones and `--watch`.
 */
export function plainGenerate(argv: readonly string[]): GenerateFlags | undefined {
  if (argv[0] !== 'generate') return undefined;
  let flags: GenerateFlags = { config: 'fw.config.yaml', format: 'text' };
  for (let index = 1; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    const value = argv[index + 1] ?? '';
    const found = Object.hasOwn(SWITCHES, word) ? SWITCHES[word] : withValue(word, value);
    if (found === undefined) return undefined;
    if (!Object.hasOwn(SWITCHES, word)) index += 1;
    flags = { ...flags, ...found };
  }
  return flags;
}

function withValue(word: string, value: string): Partial<GenerateFlags> | undefined {
  if (word === '--config') return value === '' || value.startsWith('-') ? undefined : { config: value };
  const format = word === '--format' && Object.hasOwn(FORMAT_FLAGS, value) ? FORMAT_FLAGS[value] : undefined;
  return format === undefined ? undefined : { format };
}
