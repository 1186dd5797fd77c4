import { AssertionError } from 'node:assert';
import { Action } from '../action/action.js';
import type { ActionDescriptor } from '../action/action-descriptor.js';
import type { Clock } from '../domain/clock.js';
import type { Entity } from '../domain/entity.js';
import type { Model } from '../domain/model.js';
import type { Caller, Principal } from '../domain/principal.js';
import { UnknownHandlerError } from '../errors.js';
import type { ActionRunner } from '../execution/action-executor.js';
import { readFailure } from '../sagas/own-model.js';
import type { Saga } from '../sagas/saga.js';
import type { SagaDescriptor } from '../sagas/saga-descriptor.js';
import { SagaRun, sagaRunModel } from '../sagas/saga-run.js';
import { stageStart } from '../sagas/stage-saga.js';
import { Agenda } from './agenda.js';
import { type MemoryApplication, memoryApplication, type SpecSetting } from './memory-application.js';
import { MemoryProcess } from './memory-process.js';
import type { MemoryCommit } from './memory-store.js';
import { performedIn } from './performed.js';
import type { SagaPerformed } from './saga-outcome.js';
import { TakenSteps } from './taken-steps.js';
import { VirtualClock } from './virtual-clock.js';

/** A failure of the first attempts of one step. */
export interface SagaTrouble {
  readonly state: string;
  readonly point: 'before commit' | 'after commit';
  /** Number of attempts that fail. */
  readonly times: number;
  readonly error: Error;
}

/** An action that runs while the saga waits. */
export interface SagaSignal {
  /** State of the wait. */
  readonly state: string;
  /** Milliseconds after its begin. */
  readonly afterMs: number;
  readonly run: (executor: ActionRunner, model: Model) => Promise<unknown>;
}

/** @internal */
export interface SagaSetting extends SpecSetting {
  readonly principal: Caller;
  readonly troubles: readonly SagaTrouble[];
  readonly signals: readonly SagaSignal[];
}

type Start = (executor: ActionRunner) => Promise<unknown>;
type MakeSaga<M extends Model> = new () => Saga<M>;
type AnySaga = Pick<Saga<Model>, 'name' | 'aliases'>;

interface StartParams {
  readonly state: Model;
}

/** Starts a saga in a state that a specification defines. */
export class StartAction extends Action<StartParams, void> {
  readonly #saga: Saga<Model>;

  constructor(clock: Clock, saga: Saga<Model>) {
    super(clock);
    this.#saga = saga;
  }

  protected perform(_principal: Principal, { state }: StartParams): void {
    stageStart(this.plan(), this.#saga, state);
  }
}

/**
 * Time after its deadline at which a step that can only succeed counts as overdue, in milliseconds: its time-out has
 * run by then.
 */
const GRACE_MS = 1;

/** Runs one saga from its start until it ends or gets stuck. @throws the error of its start */
export async function runSaga<M extends Model>(
  setting: SagaSetting,
  sagaClass: MakeSaga<M>,
  start: Start,
): Promise<SagaPerformed<M>> {
  const descriptor = descriptorOf(setting, sagaClass);
  const clock = new VirtualClock(setting.clock.now());
  const agenda = new Agenda(clock);
  const saga = descriptor.create();
  const steps = new TakenSteps(saga);
  const run = memoryApplication(setting.application, {
    clock,
    models: setting.models,
    saga: descriptor,
    actions: [startDescriptor(clock, saga)],
    attempted: (action, params) => steps.attempted(action, params),
    trouble: meetingTroubles(saga, setting.troubles),
    committed: (commit) => admit(commit),
  });
  if (run.driver === undefined) throw new TypeError(`The application has no driver for saga ${saga.name}`);
  const process = new MemoryProcess(run.driver, run.executor, run.registry, agenda);
  const admit = (commit: MemoryCommit): void => {
    steps.committed(commit);
    process.admit(commit, run.log.entries(commit));
  };
  await start(run.executor);
  const started = startedRun(run.commits, saga);
  if (started === undefined) {
    const [first] = run.commits;
    const action = first && run.registry.named(first.plan.action.name);
    const by = action?.actionClass.name ?? 'the action';
    throw new AssertionError({ message: `Expected ${by} to start ${saga.name}, but it did not` });
  }
  const model = () => stateOf<M>(run, descriptor, started);
  const ending = await endOf(run, agenda, { started, model, signals: setting.signals });
  const last = run.store.stored(started) ?? started;
  return {
    ...performedIn(run, model()),
    ending,
    failure: ending === 'ended' ? undefined : (readFailure(last) ?? steps.lastFailure),
    steps: steps.taken,
    endedAt: clock.now(),
    actions: run.commits.map(({ plan: { action } }) => ({ name: action.name, principal: action.principal })),
  };
}

interface Waiting {
  readonly started: SagaRun;
  /** Returns the current state of the saga's model. */
  readonly model: () => Model;
  readonly signals: readonly SagaSignal[];
}

async function endOf(
  run: MemoryApplication,
  agenda: Agenda,
  { started, model, signals }: Waiting,
): Promise<SagaPerformed<Model>['ending']> {
  const due = new Set(signals);
  for (;;) {
    run.databases.requireNoQuery();
    const { state, deadline, step } = run.store.stored(started) ?? started;
    for (const signal of due) {
      if (signal.state !== step || !due.delete(signal)) continue;
      agenda.enter(agenda.nowMs + signal.afterMs, async () => {
        await signal.run(run.executor, model());
      });
    }
    if (state === 'ENDED') return 'ended';
    if (state === 'PARKED') return 'parked';
    if (deadline !== undefined && agenda.nowMs > deadline.getTime() + GRACE_MS) return 'overdue';
    if (!(await agenda.next()))
      throw new TypeError(`Saga ${started.saga} runs, but nothing is scheduled for it`);
  }
}

function startedRun(commits: readonly MemoryCommit[], { name, aliases }: AnySaga): SagaRun | undefined {
  const names = [name, ...aliases];
  const models = commits.flatMap(({ plan }) => plan.items.map(({ model }) => model));
  return models.find((model): model is SagaRun => model instanceof SagaRun && names.includes(model.saga));
}

/** The saga's model as it is stored. */
function stateOf<M extends Model>(run: MemoryApplication, { model }: SagaDescriptor, { id }: SagaRun): M {
  const staged = run.commits.flatMap(({ plan }) => plan.items);
  const own = staged.find(
    ({ descriptor, model: each }) => descriptor === model && each.id.getValue() === id.getValue(),
  );
  const found: Entity | undefined = own === undefined ? undefined : run.store.stored(own.model);
  if (found === undefined)
    throw new TypeError(`Table ${sagaRunModel.table} has a row without the saga's model`);
  // The saga's descriptor guarantees the type.
  return found as M;
}

/** @throws UnknownHandlerError if the class is not a saga of the application */
function descriptorOf<M extends Model>({ application }: SagaSetting, sagaClass: MakeSaga<M>): SagaDescriptor {
  const found = application.sagas.find(({ create }) => create().constructor === sagaClass);
  if (found !== undefined) return found;
  throw new UnknownHandlerError(
    `${sagaClass.name} is not a saga of the application. Mark it with @FwSaga and run fw-gen generate.`,
  );
}

function startDescriptor(clock: Clock, saga: Saga<Model>): ActionDescriptor {
  const descriptor: ActionDescriptor<StartParams, void> = {
    name: 'spec',
    actionClass: StartAction,
    params: [],
    create: () => new StartAction(clock, saga),
  };
  // A look-up by class returns the descriptor with its own types.
  return descriptor as unknown as ActionDescriptor;
}

/** Lets attempts of steps fail as a specification defines: called at each point of a commit, throws the error. */
function meetingTroubles(
  { name }: AnySaga,
  troubles: readonly SagaTrouble[],
): (actionName: string, point: SagaTrouble['point']) => void {
  const left = new Map(troubles.map((trouble) => [trouble, trouble.times]));
  return (actionName, point) => {
    for (const [trouble, times] of left) {
      if (trouble.point !== point || actionName !== `${name}.${trouble.state}` || times <= 0) continue;
      left.set(trouble, times - 1);
      throw trouble.error;
    }
  };
}
