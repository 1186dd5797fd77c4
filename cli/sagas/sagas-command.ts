import type { SagaPage, SagaSummary } from '../../runtime/operations.js';
import {
  type CommandContext,
  choice,
  readConfig,
  wholeNumber,
  withConfig,
  withFormat,
} from '../command-context.js';
import type { Command } from '../commander.js';
import { expectFailures } from '../database-failures.js';
import { EXIT, type ExitCode, type Output } from '../exit.js';
import { examples } from '../help.js';
import { cell } from '../terminal-text.js';
import { textTable } from '../text-table.js';
import { addSagaOrders } from './saga-orders-command.js';

interface ListOptions {
  readonly config: string;
  readonly format: 'table' | 'json';
  readonly stuck?: true;
  readonly saga?: string;
  readonly state?: 'RUNNING' | 'PARKED' | 'ENDED';
  readonly limit: number;
  readonly cursor?: string;
}

/** Time limit that includes the start of an embedded database, in milliseconds. */
const TIMEOUT_MS = 30_000;

/** Adds `fw-gen sagas` with its commands. */
export function addSagasCommand(program: Command, context: CommandContext): void {
  const sagas = program
    .command('sagas')
    .description('Shows the progress of sagas, and retries or ends stuck ones.');
  withFormat(withConfig(sagas.command('list')))
    .description('Lists sagas of all shards, oldest first. With --stuck it exits with 1 if there are any.')
    .option('--stuck', 'only sagas that are parked, overdue or blocked by a dead letter')
    .option('--saga <name>', 'only sagas of this name')
    .option('--state <state>', 'RUNNING, PARKED or ENDED', choice(['RUNNING', 'PARKED', 'ENDED'] as const))
    .option('--limit <n>', 'maximum number of sagas, 1 to 200', wholeNumber(1, 200), 50)
    .option('--cursor <cursor>', 'cursor of the previous page')
    .addHelpText(
      'after',
      examples(
        ['fw-gen sagas list', 'all of them, page by page'],
        ['fw-gen sagas list --stuck', 'sagas that need an operator'],
        ['fw-gen sagas list --stuck --format json', 'for scripts and monitoring'],
      ),
    )
    .action((options: ListOptions) => context.run(() => list(options, context.output)));
  addSagaOrders(sagas, context);
}

async function list(options: ListOptions, output: Output): Promise<ExitCode> {
  const { config, format, ...request } = options;
  const { sharding } = readConfig(config);
  const { listSagasOn, withDatabases } = await import('../../runtime/operations.js');
  const page = await withDatabases(sharding, output.error, (databases) =>
    expectFailures(() => listSagasOn(databases, { ...request, timeoutMs: TIMEOUT_MS })),
  );
  if (format === 'json') output.info(pageJson(page));
  else showTable(page, options, output);
  for (const { shard, error } of page.failures) output.error(`${shard} is missing: ${error.message}`);
  const quiet = page.failures.length === 0 && !(options.stuck === true && page.items.length > 0);
  return quiet ? EXIT.success : EXIT.drift;
}

function pageJson({ items, next, failures }: SagaPage): string {
  const sagas = items.map((item) => ({ ...item, shard: item.shard.toString() }));
  const missing = failures.map(({ shard, error }) => ({ shard: shard.toString(), message: error.message }));
  return JSON.stringify({ sagas, next, failures: missing }, null, 2);
}

function showTable({ items, next, failures }: SagaPage, { stuck }: ListOptions, output: Output): void {
  const headings = ['SHARD', 'SAGA', 'ID', 'STATE', 'STEP', 'STARTED', 'DEADLINE', 'STUCK', 'LAST FAILURE'];
  if (items.length > 0) output.info(textTable(headings, items.map(row)));
  else if (failures.length === 0) output.info(stuck === true ? 'No saga is stuck.' : 'No sagas.');
  if (next !== null) output.info(`\nNext page: --cursor ${next}`);
}

function row({
  shard,
  saga,
  id,
  state,
  step,
  startedDate,
  deadline,
  stuck,
  failure,
}: SagaSummary): readonly string[] {
  return [
    shard.toString(),
    cell(saga),
    id,
    state,
    cell(step),
    startedDate.toISOString(),
    deadline?.toISOString() ?? '',
    stuck ?? '',
    failure === undefined ? '' : cell(`${failure.code}: ${failure.message}`),
  ];
}
