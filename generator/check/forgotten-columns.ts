import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { columnsOf } from '../schema/columns.js';
import { modelNames } from '../schema/model-names.js';
import type { ProjectSchema } from '../schema/project-schema.js';

/**
 * Columns of models that no migration mentions, as `table.column`: probably a migration is missing. This only searches
 * the texts and misses other differences; `fw-gen migrate diff --check` runs the migrations. Tables without a first
 * migration are left out, because `generate` writes it.
 */
export function forgottenColumns(
  projectDirectory: string,
  { models, migrations }: Pick<ProjectSchema, 'models' | 'migrations'>,
): readonly string[] {
  const created = new Set(migrations.flatMap(({ creates }) => creates));
  const words = new Set(
    migrations.flatMap(({ file, sql }) => wordsOf(sql ?? readFileSync(join(projectDirectory, file), 'utf8'))),
  );
  return models.flatMap((model) => {
    const { table } = modelNames(model);
    if (!created.has(table)) return [];
    return columnsOf(model)
      .filter(({ column }) => !words.has(column.toLowerCase()))
      .map(({ column }) => `${table}.${column}`);
  });
}

/** Names with and without quotes, in lower case. */
function wordsOf(text: string): readonly string[] {
  const quoted = [...text.matchAll(/"([^"\n]+)"/g)].map(([, name = '']) => name);
  return [...(text.match(/[\p{L}\p{N}_$]+/gu) ?? []), ...quoted].map((word) => word.toLowerCase());
}
