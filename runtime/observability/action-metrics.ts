import { Counter, type Registry } from 'prom-client';
import type { ActionStatistics, RememberedCounts } from '../action/action-statistics.js';
import { addDurations } from './duration-metric.js';

/** Adds metrics of executed actions, read once per scrape. */
export function addActionMetrics(registry: Registry, statistics: () => readonly ActionStatistics[]): void {
  const registers = [registry];
  const outcomes = new Counter({
    name: 'fw_actions_total',
    help: 'Executions by action and outcome: ok, replayed, or the code of the error',
    labelNames: ['action', 'outcome'],
    registers,
    collect: () => {
      outcomes.reset();
      for (const { action, outcomes: counts } of statistics())
        for (const [outcome, count] of counts) outcomes.inc({ action, outcome }, count);
    },
  });
  const retries = new Counter({
    name: 'fw_action_retries_total',
    help: 'Attempts that were followed by another one, by how they ended',
    labelNames: ['action', 'reason'],
    registers,
    collect: () => {
      retries.reset();
      for (const { action, retries: counts } of statistics())
        for (const [reason, count] of counts) retries.inc({ action, reason }, count);
    },
  });
  addDurations(registry, {
    name: 'fw_action_duration_seconds',
    help: 'Time of an execution over all its attempts',
    read: () =>
      statistics().map(({ action, durations: counts, seconds, exemplars }) => [
        { action },
        { counts, seconds, exemplars },
      ]),
  });
}

/** What is remembered of models, read once per scrape. */
export function addRememberedMetrics(registry: Registry, read: () => RememberedCounts): void {
  const reads = new Counter({
    name: 'fw_remembered_models_total',
    help: 'Reads of models by id in actions: hit, without a query, miss, or disproven by the write',
    labelNames: ['outcome'],
    registers: [registry],
    collect: () => {
      reads.reset();
      for (const [outcome, count] of Object.entries(read())) reads.inc({ outcome }, count);
    },
  });
}
