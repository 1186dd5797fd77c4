import { FwSaga, Saga, type SagaSteps } from 'fw-actions';
import type { Thing } from './thing.js';

const FORMER = 'ThingSaga';

@FwSaga
export class StuffSaga extends Saga<Thing> {
  override readonly name = FORMER;
  override readonly aliases: readonly string[] = ['a name with spaces'];
  override readonly steps: SagaSteps<Thing> = {};
}
