import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { temporaryFolder } from '../../runtime/config/test-support/temporary-folder.js';
import { describedMetrics } from '../described-metrics.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly annotations: { readonly description: string };
    }[];
  }[];
}

interface Cases {
  readonly tests: readonly {
    readonly alert_rule_test: readonly {
      readonly alertname: string;
      readonly exp_alerts: readonly { readonly exp_annotations: object }[];
    }[];
  }[];
}

const read = (file: string): string => readFileSync(`${HERE}${file}`, 'utf8');
const alerts = (parse(read('alerts.yaml')) as Rules).groups.flatMap(({ rules }) => rules);
const cases = parse(read('alerts.test.yaml')) as Cases;
const dashboard = read('dashboard.json');

test('alerts and dashboard use metrics that the runtime has', async () => {
  const known = new Set((await describedMetrics()).map(({ name }) => name));
  const used = [alerts.map(({ expr }) => expr).join('\n'), dashboard].join('\n').matchAll(/\bfw_\w+/g);
  const unknown = [...used].map(([name]) => name.replace(/_bucket$/, '')).filter((name) => !known.has(name));
  expect(unknown).toEqual([]);
  expect(known.size).toBeGreaterThan(30);
});

/** `UPDATE_GOLDEN=1` writes the table. */
test('the page shows the description of each alert, with links', () => {
  const linked = (text: string): string => text.replaceAll(/docs\/([\w-]+\.md)(#[\w-]+)?/g, '[$1](../$1$2)');
  const rows = alerts.map(
    ({ alert, annotations }) => `| \`${alert}\` | ${linked(annotations.description)} |`,
  );
  const table = ['| alert | what to do |', '|---|---|', ...rows].join('\n');
  const page = read('README.md');
  const updated = page.replace(/(?<=<!-- table: begin -->\n\n).*?(?=\n\n<!-- table: end -->)/s, () => table);
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(`${HERE}README.md`, updated);
  expect(read('README.md')).toBe(updated);
  expect(updated).toContain(table);
});

test('each alert has a case in which it fires', () => {
  const fired = cases.tests.flatMap(({ alert_rule_test: each }) =>
    each.filter(({ exp_alerts: expected }) => expected.length > 0).map(({ alertname }) => alertname),
  );
  expect(fired).toEqual(alerts.map(({ alert }) => alert));
});

test('the rules are valid and fire in their cases, if promtool is installed', () => {
  const folder = temporaryFolder(onTestFinished);
  writeFileSync(join(folder, 'alerts.yaml'), read('alerts.yaml'));
  writeFileSync(join(folder, 'alerts.test.yaml'), stringify(describedCases()));
  const promtool = (...args: readonly string[]) =>
    spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' });
  if (promtool('--version').error !== undefined) return;
  for (const args of [
    ['check', 'rules', 'alerts.yaml'],
    ['test', 'rules', 'alerts.test.yaml'],
  ]) {
    const { status, stdout, stderr } = promtool(...args);
    expect(status, `${stdout}${stderr}`).toBe(0);
  }
});

/** The cases with the descriptions of the alerts, which promtool compares, too. */
function describedCases(): object {
  const tests = cases.tests.map(({ alert_rule_test: each, ...rest }) => ({
    ...rest,
    alert_rule_test: each.map(({ alertname, exp_alerts: expected, ...rule }) => {
      const description = alerts.find(({ alert }) => alert === alertname)?.annotations.description;
      const described = expected.map(({ exp_annotations, ...labels }) => {
        return { ...labels, exp_annotations: { ...exp_annotations, description } };
      });
      return { ...rule, alertname, exp_alerts: described };
    }),
  }));
  return { ...cases, tests };
}

test('the dashboard has a title and a query for each panel', () => {
  const { panels } = JSON.parse(dashboard) as {
    readonly panels: readonly {
      readonly title: string;
      readonly targets: readonly { readonly expr: string }[];
    }[];
  };
  expect(panels.length).toBeGreaterThan(10);
  for (const { title, targets } of panels) expect([title, targets[0]?.expr]).not.toContain('');
});
