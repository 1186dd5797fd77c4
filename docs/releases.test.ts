import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** The tests of each row of "Deploying a new release": a file, and a part of the title of a test in it. */
const TESTS: Readonly<Record<string, string>> = {
  'a handler or sink selects more, or becomes transactional': `
    runtime/events/delivery/registration.db: is stored before its first write
    runtime/events/delivery/registration.db: is stored on a shard that a reload adds
    runtime/events/delivery/registration.db: is stored on a shard that was down at the start
    runtime/events/delivery/registration.db: is stored again after a failover that has lost it
    runtime/events/delivery/two-releases.proof.db: leave the checkpoint to the handler that has become transactional
    runtime/relay/changed-sinks.db: leaves the checkpoint to a process whose filter selects more
    test/rollout/rollout.proof.db: deliver events that only the second one knows
  `,
  'a handler or sink selects less, or is no longer transactional': `
    runtime/relay/changed-sinks.db: leaves the checkpoint to a process whose filter selects more, until
    cli/operate/releases.db: narrow lets a release continue that selects less
  `,
  'a handler or sink is renamed': `
    runtime/events/delivery/chained-actions.db: continues at its checkpoint, also in the previous release, and its old name
    runtime/relay/changed-sinks.db: continues under another name with the former one among its aliases, and does not repeat
  `,
  'an event is renamed': `
    runtime/events/delivery/upcasters.db: is upcast to the current version in delivery
    test/rollout/rollout.proof.db: lose nothing and repeat nothing while processes are replaced
  `,
  'an event has a next version': `
    runtime/events/delivery/chained-actions.db: that are newer wait, visible in lag(), for a process that knows them
  `,
  'an action that is scheduled or recurs is new, or its params have a next version': `
    runtime/events/delivery/two-releases.proof.db: leave an unknown scheduled action to the process that knows it
    runtime/events/schedules/params-versions.db: of a newer version are left to a newer process, and the others run
    runtime/events/schedules/recurring.db: that only a newer release knows wait for it
  `,
  'an action recurs at other times, or no longer': `
    runtime/events/schedules/recurring.db: follow the release that started last
    runtime/events/schedules/recurring.db: end with the last process that has them
  `,
  'a scheduled action is removed': `
    cli/operate/releases.db: lag shows a scheduled action that no process knows, and exits with 1
  `,
  'a saga has another step': `
    runtime/sagas/sagas.db: in a step that a release does not know waits for one that does, while other sagas
    test/rollout/rollout.proof.db: leave a saga in a step that only the second one knows
  `,
  'a saga’s step is removed': `
    runtime/sagas/sagas.db: that is abandoned in an unknown step holds back nothing
  `,
  'a model has another required field': `
    runtime/persistence/codec/result-json: of another release is a model without fields that only one of them knows
  `,
  'params of a cross-shard plan have a next version': `
    runtime/execution/cross-shard/journal-recovery.db: of a newer release are left to a process of that release
  `,
};

test('each row of "Deploying a new release" has a test', () => {
  const page = readFileSync(join(ROOT, 'docs', 'operations.md'), 'utf8');
  const [section = ''] = (page.split('## Deploying a new release\n')[1] ?? '').split('\n## ');
  const rows = [...section.matchAll(/^\| (.+?) \| .*\|$/gm)].map(([, first = '']) => first);
  expect(rows.filter((row) => row !== 'What changes')).toEqual(Object.keys(TESTS));
  const tests = Object.values(TESTS).flatMap((lines) => lines.trim().split('\n'));
  for (const [file = '', title] of tests.map((line) => line.trim().split(': ')))
    expect(readFileSync(join(ROOT, `${file}.test.ts`), 'utf8'), file).toContain(title);
});
