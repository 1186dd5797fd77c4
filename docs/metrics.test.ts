import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describedMetrics } from './described-metrics.js';
import { ROOT } from './pages.js';

const PAGE = join(ROOT, 'docs/metrics.md');
const HEAD = `# Metrics

What \`GET /metrics\` shows besides \`process_*\` and \`nodejs_*\` (memory, processor, event loop, garbage collection).
[operations.md](operations.md#metrics) says how to collect it.

| Metric | Type | Labels | Meaning |
|---|---|---|---|
`;

/** `UPDATE_GOLDEN=1` writes the page. */
test('the page of metrics is made from what a process shows', async () => {
  const rows = (await describedMetrics()).map(({ name, type, help, labels }) => {
    const shown = labels.length === 0 ? '-' : labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${type} | ${shown} | ${help} |\n`;
  });
  const page = HEAD + rows.join('');
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(PAGE, page);
  expect(readFileSync(PAGE, 'utf8')).toBe(page);
});
