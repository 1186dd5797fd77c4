import type { Finding, FindingLevel } from '../../runtime/operations.js';
import { CONFIG, type CommandEntry, FORMAT, PARALLEL } from '../command.js';
import { readMigrations, readTables } from '../project.js';
import { counted } from '../terminal-text.js';
import { tableLines } from '../text-table.js';
import { operatorCommand } from './operator-command.js';

const MARKS: Readonly<Record<FindingLevel, string>> = { ok: 'ok', warning: 'WARNING', fault: 'FAULT' };

/** `fw-gen doctor` */
export const DOCTOR: CommandEntry = operatorCommand({
  name: 'doctor',
  about:
    'Checks configuration, connections, servers, clocks, rights, residency, replicas, migrations, drift and connection budget.',
  inputs: { ...CONFIG, ...FORMAT, ...PARALLEL },
  reportsIdentity: true,
  run: async ({ runtime, config, databases }, { parallel: atOnce }) => {
    // Without `fw.generator`, models and migrations are unknown; the servers are still checked.
    const application =
      config.generator === undefined
        ? undefined
        : { migrations: await readMigrations(config), tables: await readTables(config) };
    const findings = await runtime.examine(databases, { topology: config.sharding, application, atOnce });
    return {
      json: { findings },
      lines: report(findings),
      isDrift: findings.some(({ level }) => level === 'fault'),
    };
  },
});

function report(findings: readonly Finding[]): readonly string[] {
  const table = tableLines(findings, {
    WHERE: ({ subject }) => subject,
    CHECK: ({ check }) => check,
    RESULT: ({ level }) => MARKS[level],
    'FINDING AND ADVICE': ({ found, advice }) => (advice === '' ? found : `${found}. ${advice}`),
  });
  const count = (level: FindingLevel): number => findings.filter((finding) => finding.level === level).length;
  const [faults, warnings] = [counted(count('fault'), 'fault'), counted(count('warning'), 'warning')];
  return [...table, `\n${faults}, ${warnings}, ${count('ok')} ok`];
}
