import { type Diagnostic, diagnostic } from '../diagnostics.js';
import type { EmitInput } from './emit-input.js';
import type { Renderer } from './render.js';
import { TemplateError } from './template-error.js';
import { extraActionView, extraModelView, extraProjectView } from './views/extra-views.js';

/**
 * Emits the files of the user's additional templates: one per model, per action or for the project. A file is named
 * after its template, with `{name}` replaced by the name of the model or action: `per-model/{name}-form.ts.hbs`.
 *
 * @throws TemplateError
 */
export function emitExtras(
  input: EmitInput,
  renderer: Renderer,
  taken: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const { schema, paths, title, version } = input;
  const files = new Map<string, string>();
  const add = (template: string, name: string, text: string): void => {
    const file = template.slice(template.indexOf('/') + 1).replaceAll('{name}', name);
    const path = `${paths.output}/${file}`;
    const isHidden = file.startsWith('.');
    if (isHidden || taken.has(path) || files.has(path)) {
      const source = { file: renderer.fileOf(template) };
      const reason = isHidden
        ? 'whose name must not begin with a dot'
        : 'which is already part of the output';
      const message = `The template would emit ${file}, ${reason}`;
      throw new TemplateError('conflict', source, message, 'Rename the template.');
    }
    files.set(path, text);
  };
  for (const template of renderer.extras('per-model')) {
    const render = renderer.extra(template, 'ExtraModelView');
    for (const model of schema.models) {
      const view = extraModelView(schema, model);
      add(template, view.fileName, render(view));
    }
  }
  for (const template of renderer.extras('per-action')) {
    const render = renderer.extra(template, 'ExtraActionView');
    for (const action of schema.actions) {
      const view = extraActionView(action);
      add(template, view.fileName, render(view));
    }
  }
  for (const template of renderer.extras('per-project')) {
    const view = extraProjectView(schema, { title, version }, paths.source);
    add(template, '', renderer.extra(template, 'ExtraProjectView')(view));
  }
  return files;
}

/** Reports templates whose name or folder does not result in distinct files. */
export function checkTemplateNames(
  templates: ReadonlyMap<string, { readonly file: string }>,
  known: readonly string[],
): readonly Diagnostic[] {
  return [...templates].flatMap(([path, { file }]) => {
    const [folder, name] = path.includes('/') ? path.split('/') : ['', path];
    const needsName = folder === 'per-model' || folder === 'per-action';
    if (needsName && name?.includes('{name}') !== true) {
      const message = `The template would emit the same file ${name} for every ${folder.slice(4)}`;
      return [diagnostic('FWGEN044', { file }, message, 'Add {name} to the file name of the template.')];
    }
    if (folder !== '' || known.includes(path)) return [];
    const hint = `Name it ${known.join(', ')}, or move it to per-model, per-action or per-project.`;
    return [
      diagnostic('FWGEN044', { file }, `The file overrides no template: there is no template ${path}`, hint),
    ];
  });
}
