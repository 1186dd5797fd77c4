import { type ColumnRename, stepComment } from '../schema/column-rename.js';
import { hexHash, shortName, sqlName } from './print/sql.js';
import { FINITE } from './views/migration-view.js';

/** A rename with the properties of the old column, as the present migrations create it. */
export interface RenamedColumn extends ColumnRename {
  /** As PostgreSQL spells it. */
  readonly type: string;
  readonly nullable: boolean;
  /** A check constraint refuses NaN and infinity. */
  readonly refusesNaN: boolean;
}

/** One `.sql` migration: the part of its name after the number, and its text. */
export interface RenameMigration {
  readonly title: string;
  readonly text: string;
}

const YOURS = '-- Written once by fw-gen migrate rename. It is yours now: review it before you apply it.';

/**
 * Returns the migrations of the first release. One adds the column and a trigger that keeps both columns equal,
 * whichever column a statement writes. The next one copies a thousand rows at a time, and then requires a value.
 */
export function renameMigrations(rename: RenamedColumn): readonly RenameMigration[] {
  return [
    { title: titleOf('add', rename), text: additionText(rename) },
    { title: titleOf('copy', rename), text: copyText(rename) },
  ];
}

/** Returns the migration of the second release, which drops the old column. */
export function dropMigration(
  rename: Pick<RenamedColumn, 'table' | 'from' | 'to' | 'nullable'>,
): RenameMigration {
  const { table, from, to } = quoted(rename);
  const trigger = triggerName(rename);
  const lines = [
    `-- Release 2 of 2: ${rename.table}.${rename.from} is gone, its values are in ${rename.to}.`,
    '-- Release it only after every process of the release before the rename has ended.',
    YOURS,
    stepComment({ ...rename, step: 'ends' }),
    `drop trigger ${trigger} on ${table};`,
    `drop function ${trigger}();`,
    `alter table ${table} drop column ${from};`,
    ...(rename.nullable ? [] : [`alter table ${table} alter column ${to} drop default;`]),
  ];
  return { title: titleOf('drop', rename), text: `${lines.join('\n')}\n` };
}

/** The part of a migration's name after its number. */
function titleOf(step: 'add' | 'copy' | 'drop', { table, from, to }: ColumnRename): string {
  const words = step === 'add' ? [table, to, 'for', from] : step === 'copy' ? [table, to] : [table, from];
  const title = `${step}_${words.join('_')}`.toLowerCase().replace(/[^a-z0-9]+/g, '_');
  return title.length <= 60 ? title : `${title.slice(0, 51)}_${hexHash(title).slice(0, 8)}`;
}

/** The name of the trigger and of its function. */
function triggerName({ table, from, to }: ColumnRename): string {
  return sqlName(shortName(`rename_${table}_${from}_${to}`, 'rename'));
}

function constraintName({ table, to }: ColumnRename, end: string): string {
  return sqlName(shortName(`${table}_${to}_${end}`, end));
}

function quoted({ table, from, to }: ColumnRename): ColumnRename {
  return { table: sqlName(table), from: sqlName(from), to: sqlName(to) };
}

function additionText(rename: RenamedColumn): string {
  const { table, from, to } = quoted(rename);
  const trigger = triggerName(rename);
  const finite = `alter table ${table} add constraint ${constraintName(rename, 'check')} check (${to} ${FINITE}) not valid;\n`;
  return `-- Release 1 of 2: ${rename.table}.${rename.from} becomes ${rename.to}, while processes of the previous release keep writing ${rename.from}.
${YOURS}
${stepComment({ ...rename, step: 'begins' })}
alter table ${table} add column ${to} ${rename.type};
${rename.refusesNaN ? finite : ''}${defaultsText(rename)}create function ${trigger}() returns trigger language plpgsql as $rename$
begin
  if tg_op = 'INSERT' then
    if new.${to} is null then
      new.${to} := new.${from};
    else
      new.${from} := new.${to};
    end if;
  elsif ${differ(`new.${to}`, `old.${to}`, rename)} then
    new.${from} := new.${to};
  else
    -- A process of the previous release wrote it, or the row has not been copied yet.
    new.${to} := new.${from};
  end if;
  return new;
end
$rename$;
create trigger ${trigger} before insert or update on ${table} for each row execute function ${trigger}();
`;
}

/**
 * Types without an operator `=`, and types whose operator compares less than the whole value, such as the area of a
 * box.
 */
const NOT_COMPARED = /^(json|xml|point|line|lseg|box|path|polygon|circle)\b/i;

function differ(a: string, b: string, { type }: RenamedColumn): string {
  return NOT_COMPARED.test(type) ? `${a}::text is distinct from ${b}::text` : `${a} is distinct from ${b}`;
}

/**
 * A process of either release writes only one of the columns. The trigger detects which one, because the other one is
 * null.
 */
function defaultsText(rename: RenamedColumn): string {
  const { table, from, to } = quoted(rename);
  const { type, nullable } = rename;
  if (nullable) return `alter table ${table} alter column ${from} drop default;\n`;
  // PostgreSQL stores a plain null as no default, and the check at startup then requires a value for a column that the
  // release does not know.
  const none = `nullif('', '')::${type}`;
  return `-- Inserts name one of the two columns. The other one is null until the trigger fills it.
alter table ${table} alter column ${from} set default ${none}, alter column ${to} set default ${none};
`;
}

function copyText(rename: RenamedColumn): string {
  const { table, from, to } = quoted(rename);
  const check = constraintName(rename, 'check');
  const notNull = constraintName(rename, 'not_null');
  const required = [
    '-- With the check, "set not null" does not scan the table under its lock.',
    `alter table ${table} drop constraint if exists ${notNull};`,
    `alter table ${table} add constraint ${notNull} check (${to} is not null) not valid;`,
    `alter table ${table} validate constraint ${notNull};`,
    `alter table ${table} alter column ${to} set not null;`,
    `alter table ${table} drop constraint ${notNull};`,
  ];
  return `-- fw-gen: no transaction
-- Release 1 of 2, continued: copies ${rename.table}.${rename.from} to ${rename.to}, a thousand rows at a time. It can be repeated.
${YOURS}
do $copy$
declare
  fw_reached uuid := '00000000-0000-0000-0000-000000000000';
  fw_batch uuid[];
begin
  loop
    select array_agg(page.id order by page.id) into fw_batch from (
      select t.id from ${table} as t where t.id > fw_reached order by t.id limit 1000 for no key update
    ) as page;
    exit when fw_batch is null;
    update ${table} as t set ${to} = t.${from} where t.id = any (fw_batch) and ${differ(`t.${to}`, `t.${from}`, rename)};
    fw_reached := fw_batch[array_upper(fw_batch, 1)];
    commit;
  end loop;
end
$copy$;
${[...(!rename.refusesNaN ? [] : [`alter table ${table} validate constraint ${check};`]), ...(rename.nullable ? [] : required)].map((line) => `${line}\n`).join('')}`;
}
