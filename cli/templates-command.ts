import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type CommandContext, InputError, readProjectConfig, withConfig } from './command-context.js';
import type { Command } from './commander.js';
import { EXIT, type ExitCode } from './exit.js';
import { examples } from './help.js';
import { makeFiles } from './make-files.js';

/** Adds `fw-gen templates`. */
export function addTemplatesCommand(program: Command, context: CommandContext): void {
  const templates = program
    .command('templates')
    .description('Lists the templates of fw-gen, or copies one into your folder.');
  templates
    .command('list')
    .description('Lists templates with their views.')
    .action(() => context.run(() => listTemplates(context)));
  withConfig(templates.command('eject <name>'))
    .description('Copies a template or partial into fw.generator.templates, where it overrides the original.')
    .addHelpText(
      'after',
      examples(
        ['fw-gen templates eject model', 'copies it to templates/model.hbs'],
        ['fw-gen templates eject header', 'the partial at the start of every file'],
      ),
    )
    .action((name: string, options: { readonly config: string }) =>
      context.run(() => ejectTemplate(name, options.config, context)),
    );
}

async function listTemplates({ output }: CommandContext): Promise<ExitCode> {
  const { PARTIALS, TEMPLATES } = await import('../generator/templates.js');
  const rows = [...Object.entries(TEMPLATES), ...PARTIALS.map((name) => [name, 'partial'] as const)];
  const width = Math.max(...rows.map(([name]) => name.length));
  for (const [name, view] of rows) output.info(`${name.padEnd(width)}  ${view}`);
  return EXIT.success;
}

async function ejectTemplate(
  name: string,
  configFile: string,
  { output }: CommandContext,
): Promise<ExitCode> {
  const { ownTemplateText, PARTIALS, TEMPLATES } = await import('../generator/templates.js');
  const { didYouMean } = await import('../runtime/config/index.js');
  const names = [...Object.keys(TEMPLATES), ...PARTIALS];
  if (!names.includes(name)) {
    const suggestion = didYouMean(name, names) ?? `use one of ${names.join(', ')}`;
    throw new InputError(`There is no template ${JSON.stringify(name)}: ${suggestion}`);
  }
  const config = readProjectConfig(configFile);
  const folder = config.generator?.templatesDirectory;
  if (folder === undefined) {
    throw new InputError(`${configFile}: set fw.generator.templates to the folder of your templates.`);
  }
  const path = PARTIALS.some((partial) => partial === name) ? `partials/${name}` : name;
  const file = join(folder, `${path}.hbs`);
  if (existsSync(file))
    throw new InputError(`${relative(process.cwd(), file)} already exists. Delete it first.`);
  makeFiles(new Map([[file, ownTemplateText(path)]]));
  output.info(`${relative(process.cwd(), file)} written. docs/templates.md describes its view.`);
  return EXIT.success;
}
