// A plain implementation of fw-gen's work: ts-morph with its type checker, and Handlebars compiled at each start. No
// cache, no diagnostics, and less output than fw-gen gives. node plain-ts-morph.js <project folder>
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Handlebars from 'handlebars';
import { Project } from 'ts-morph';

const folder = process.argv[2];
const output = join(folder, 'src/generated');
const project = new Project({ compilerOptions: { target: 99, module: 199, experimentalDecorators: true } });
project.addSourceFilesAtPaths([
  join(folder, 'src/**/*.ts'),
  `!${output}/**`,
  `!${join(folder, 'src/migrations/**')}`,
]);

const fieldsOf = (node) =>
  node.getProperties().map((property) => ({
    name: property.getName(),
    type: property.getType().getText(property),
    optional: property.hasQuestionToken(),
  }));

const models = [];
const events = [];
const actions = [];
for (const file of project.getSourceFiles()) {
  for (const node of file.getClasses()) {
    const name = node.getName();
    const base = node.getExtends();
    if (name === undefined || base === undefined) continue;
    if (node.getDecorator('AutoBuilder') !== undefined) {
      models.push({ name, file: name.toLowerCase(), fields: fieldsOf(node) });
    } else if (base.getExpression().getText() === 'ModelEvent') {
      events.push({ name, model: base.getTypeArguments()[0].getText(), fields: fieldsOf(node) });
    } else if (node.getDecorator('FwAction') !== undefined) {
      const [params, result] = base.getTypeArguments().map((argument) => argument.getType());
      const route = node.getDecorator('HttpRoute')?.getArguments() ?? [];
      actions.push({
        name,
        params: params.getProperties().map((property) => ({
          name: property.getName(),
          type: property.getTypeAtLocation(node).getText(node),
        })),
        result: result.getText(node),
        collaborators: node
          .getConstructors()[0]
          .getParameters()
          .map((each) => ({
            name: each.getName(),
            type: each.getType().getText(each),
          })),
        method: route[0]?.getText(),
        path: route[1]?.getText(),
      });
    }
  }
}

const options = { noEscape: true };
const model = Handlebars.compile(
  `export interface {{name}}Row {
{{#each fields}}  readonly {{name}}{{#if optional}}?{{/if}}: {{type}};
{{/each}}
}
export class {{name}}Builder {
  #values: Record<string, unknown> = {};
{{#each fields}}  {{name}}(value: {{type}}): this {
    this.#values.{{name}} = value;
    return this;
  }
{{/each}}
}
`,
  options,
);
const application = Handlebars.compile(
  `export const events = [
{{#each events}}  { name: '{{name}}', model: '{{model}}', fields: [{{#each fields}}['{{name}}', '{{type}}'], {{/each}}] },
{{/each}}];
export const actions = [
{{#each actions}}  {
    name: '{{name}}', result: '{{result}}', method: {{method}}, path: {{path}},
    params: [{{#each params}}['{{name}}', '{{type}}'], {{/each}}],
    collaborators: [{{#each collaborators}}['{{name}}', '{{type}}'], {{/each}}],
  },
{{/each}}];
`,
  options,
);
mkdirSync(output, { recursive: true });
for (const each of models) writeFileSync(join(output, `${each.file}.ts`), model(each));
writeFileSync(join(output, 'application.ts'), application({ events, actions }));
