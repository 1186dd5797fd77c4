import { type ColumnRename, stepComment } from '../schema/column-rename.js';
import { shortName, sqlLiteral, sqlName } from './print/sql.js';
import { FINITE } from './views/migration-view.js';

/** A rename with the properties of the old column, as the present migrations create it. */
export interface RenamedColumn extends ColumnRename {
  /** As PostgreSQL spells it. */
  readonly type: string;
  readonly nullable: boolean;
  /** A check constraint refuses NaN and infinity. */
  readonly refusesNaN: boolean;
}

const YOURS = '-- Written once by fw-gen migrate rename. It is yours now: review it before you apply it.';

/**
 * Returns the SQL of the first release. It adds the column and a trigger that keeps both columns equal, whichever column
 * a statement writes, and copies a thousand rows at a time.
 */
export function beginRename(rename: RenamedColumn): string {
  const { table, from, to, trigger } = namesOf(rename);
  // PostgreSQL stores a plain null as no default, and the check at startup then requires a value for a column that the
  // release does not know.
  const none = `nullif('', '')::${rename.type}`;
  const copied = [
    ...(rename.refusesNaN
      ? checked(table, sqlName(shortName(`${rename.table}_${rename.to}_check`, 'check')), `${to} ${FINITE}`)
      : []),
    ...(rename.nullable
      ? []
      : [
          '-- With the check, "set not null" does not scan the table under its lock.',
          ...checked(table, trigger, `${to} is not null`),
          `alter table ${table} alter column ${to} set not null;`,
          `alter table ${table} drop constraint ${trigger};`,
        ]),
  ];
  // Values are compared as texts: some types have no operator =, and that of others ignores a part of the value.
  return `-- fw-gen: no transaction
-- Release 1 of 2: ${rename.table}.${rename.from} becomes ${rename.to}, while processes of the previous release keep writing ${rename.from}.
-- It can be repeated.
${YOURS}
${stepComment('begins', rename)}
create or replace function ${trigger}() returns trigger language plpgsql as $rename$
begin
  if tg_op = 'INSERT' then
    if new.${to} is null then
      new.${to} := new.${from};
    else
      new.${from} := new.${to};
    end if;
  elsif new.${to}::text is distinct from old.${to}::text then
    new.${from} := new.${to};
  else
    -- A process of the previous release wrote it, or the row has not been copied yet.
    new.${to} := new.${from};
  end if;
  return new;
end
$rename$;
do $add$
begin
  -- A repetition finds the trigger. A column without it is another one of the same name.
  if not exists (select from pg_trigger where tgname = ${sqlLiteral(triggerName(rename))}) then
    alter table ${table} add column ${to} ${rename.type};
    create trigger ${trigger} before insert or update on ${table} for each row execute function ${trigger}();
  end if;
end
$add$;
-- Inserts name one of the two columns. The other one is null until the trigger fills it.
alter table ${table} alter column ${from} set default ${none}, alter column ${to} set default ${none};
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
    update ${table} as t set ${to} = t.${from} where t.id = any (fw_batch) and t.${to}::text is distinct from t.${from}::text;
    fw_reached := fw_batch[array_upper(fw_batch, 1)];
    commit;
  end loop;
end
$copy$;
${copied.map((line) => `${line}\n`).join('')}`;
}

/** Returns the SQL of the second release, which drops the old column. */
export function finishRename(rename: ColumnRename): string {
  const { table, from, to, trigger } = namesOf(rename);
  return `-- Release 2 of 2: ${rename.table}.${rename.from} is gone, its values are in ${rename.to}.
-- Release it only after every process of the release before the rename has ended.
${YOURS}
${stepComment('ends', rename)}
drop trigger ${trigger} on ${table};
drop function ${trigger}();
alter table ${table} drop column ${from};
alter table ${table} alter column ${to} drop default;
`;
}

/** The name of the trigger and of its function. */
function triggerName({ table, from, to }: ColumnRename): string {
  return shortName(`rename_${table}_${from}_${to}`, 'rename');
}

/** The names as SQL spells them. */
function namesOf(rename: ColumnRename): ColumnRename & { readonly trigger: string } {
  const { table, from, to } = rename;
  return {
    table: sqlName(table),
    from: sqlName(from),
    to: sqlName(to),
    trigger: sqlName(triggerName(rename)),
  };
}

/** Adds a check without a scan of the table under its lock. */
function checked(table: string, name: string, condition: string): readonly string[] {
  return [
    `alter table ${table} drop constraint if exists ${name};`,
    `alter table ${table} add constraint ${name} check (${condition}) not valid;`,
    `alter table ${table} validate constraint ${name};`,
  ];
}
