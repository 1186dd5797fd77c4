import { writeFileSync } from 'node:fs';
import { type CommandContext, requireNone, withConfig } from './command-context.js';
import type { Command } from './commander.js';
import { EXIT, type ExitCode } from './exit.js';
import { examples } from './help.js';
import { InputError } from './input-error.js';
import { loadGenerator } from './load-generator.js';
import { problemLine } from './report/report.js';

interface OpenApiFlags {
  readonly config: string;
  readonly out?: string;
}

/** Adds `fw-gen openapi`. */
export function addOpenApiCommand(program: Command, context: CommandContext): void {
  withConfig(program.command('openapi'))
    .description('Prints the OpenAPI document of the routes. Reads the sources and starts nothing.')
    .option('--out <file>', 'write the document to this file')
    .addHelpText(
      'after',
      examples(
        ['fw-gen openapi', 'prints the document'],
        ['fw-gen openapi --out openapi.json', 'writes it, for clients and linters'],
      ),
    )
    .action((flags: OpenApiFlags) => context.run(() => openApi(flags, context)));
}

async function openApi({ config, out }: OpenApiFlags, { output }: CommandContext): Promise<ExitCode> {
  const loaded = loadGenerator(config, ['access', 'http.contact', 'http.license']);
  if ('problems' in loaded) throw new InputError(loaded.problems.map(problemLine).join('\n'));
  const { describeApi } = await import('../generator/openapi.js');
  const described = await describeApi({ ...loaded.options, access: loaded.access, http: loaded.http });
  if ('diagnostics' in described) requireNone(described.diagnostics);
  else if (out === undefined) output.info(described.text);
  else writeFileSync(out, `${described.text}\n`);
  return EXIT.success;
}
