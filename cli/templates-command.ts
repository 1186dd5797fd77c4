import { join, relative } from 'node:path';
import { CONFIG, type CommandEntry, command, type Report, required } from './command.js';
import { InputError } from './input-error.js';
import { makeFiles } from './make-files.js';
import { readProjectConfig } from './project.js';
import { factLines } from './text-table.js';

/** `fw-gen templates` */
export const TEMPLATES: CommandEntry = {
  name: 'templates',
  about: 'Lists the templates of fw-gen, or copies one into your folder.',
  commands: [
    command({
      name: 'list',
      about: 'Lists templates with their views.',
      inputs: {},
      run: async () => {
        const templates = await import('../generator/templates.js');
        const partials = Object.fromEntries(templates.PARTIALS.map((name) => [name, 'partial']));
        return { lines: factLines({ ...templates.TEMPLATES, ...partials }) };
      },
    }),
    command({
      name: 'eject',
      about: 'Copies a template or partial into fw.generator.templates, where it overrides the original.',
      examples: [
        ['fw-gen templates eject model', 'copies it to templates/model.hbs'],
        ['fw-gen templates eject header', 'the partial at the start of every file'],
      ],
      inputs: { ...CONFIG, name: required('<name>', '') },
      run: ({ name, config }) => ejectTemplate(name, config),
    }),
  ],
};

async function ejectTemplate(name: string, configFile: string): Promise<Report> {
  const { ownTemplateText, PARTIALS, TEMPLATES } = await import('../generator/templates.js');
  const { didYouMean } = await import('../runtime/config/suggest.js');
  const names = [...Object.keys(TEMPLATES), ...PARTIALS];
  if (!names.includes(name)) {
    const suggestion = didYouMean(name, names) ?? `use one of ${names.join(', ')}`;
    throw new InputError(`There is no template ${JSON.stringify(name)}: ${suggestion}`);
  }
  const config = readProjectConfig(configFile);
  const folder = config.generator?.templates;
  if (folder === undefined) {
    throw new InputError(`${configFile}: set fw.generator.templates to the folder of your templates.`);
  }
  const path = PARTIALS.some((partial) => partial === name) ? `partials/${name}` : name;
  const file = join(folder, `${path}.hbs`);
  makeFiles(new Map([[file, ownTemplateText(path)]]));
  return { lines: [`${relative(process.cwd(), file)} written. docs/templates.md describes its view.`] };
}
