import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { describedMetrics } from '../described-metrics.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}

interface Cases {
  readonly tests: readonly {
    readonly alert_rule_test: readonly {
      readonly alertname: string;
      readonly exp_alerts: readonly object[];
    }[];
  }[];
}

const read = (file: string): string => readFileSync(`${HERE}${file}`, 'utf8');
const alerts = (parse(read('alerts.yaml')) as Rules).groups.flatMap(({ rules }) => rules);
const dashboard = read('dashboard.json');

test('alerts and dashboard use metrics that the runtime has', async () => {
  const known = new Set((await describedMetrics()).map(({ name }) => name));
  const used = [alerts.map(({ expr }) => expr).join('\n'), dashboard].join('\n').matchAll(/\bfw_\w+/g);
  const unknown = [...used].map(([name]) => name.replace(/_bucket$/, '')).filter((name) => !known.has(name));
  expect(unknown).toEqual([]);
  expect(known.size).toBeGreaterThan(30);
});

test('each alert has a paragraph, and a case in which it fires', () => {
  const names = alerts.map(({ alert }) => alert);
  const described = [...read('README.md').matchAll(/^\| `(Fw\w+)` \|/gm)].map(([, name]) => name);
  expect(described).toEqual(names);
  const { tests } = parse(read('alerts.test.yaml')) as Cases;
  const fired = tests.flatMap(({ alert_rule_test: cases }) =>
    cases.filter(({ exp_alerts: expected }) => expected.length > 0).map(({ alertname }) => alertname),
  );
  expect(fired).toEqual(names);
});

test('the rules are valid and fire in their cases, if promtool is installed', () => {
  const promtool = (...args: readonly string[]) =>
    spawnSync('promtool', args, { cwd: HERE, encoding: 'utf8' });
  if (promtool('--version').error !== undefined) return;
  for (const args of [
    ['check', 'rules', 'alerts.yaml'],
    ['test', 'rules', 'alerts.test.yaml'],
  ]) {
    const { status, stdout, stderr } = promtool(...args);
    expect(status, `${stdout}${stderr}`).toBe(0);
  }
});

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
