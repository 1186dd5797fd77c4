import { Action, FwAction, FwSchedule } from 'fw-actions';

abstract class Nothing extends Action<void, void> {
  protected perform(): void {}
}

@FwAction
@FwSchedule({ cron: '0 24 * * *' })
export class HourAction extends Nothing {}

@FwAction
@FwSchedule({ cron: '0 0 3 * * *' })
export class SecondsAction extends Nothing {}

@FwAction
@FwSchedule({ cron: '0 0 30 2 *' })
export class NeverAction extends Nothing {}

@FwAction
@FwSchedule({ cron: '0 3 * * *', zone: 'Europe/Berln' })
export class ZoneAction extends Nothing {}

@FwAction
// @ts-expect-error without cron fields
@FwSchedule({ zone: 'Europe/Berlin' })
export class NoFieldsAction extends Nothing {}

@FwAction
@FwSchedule({ cron: '0 3 * * *', missed: 'twice' as 'once', principal: 'the billing' })
export class OptionsAction extends Nothing {}

@FwAction
@FwSchedule({ cron: '0 3 * * *' })
export class ParamsAction extends Action<{ readonly note?: string; readonly title: string }, void> {
  protected perform(): void {}
}

@FwAction
@FwSchedule({ cron: '0 3 * * *', on: 'each-shard' })
export class ShardAction extends Action<{ readonly group: number }, void> {
  protected perform(): void {}
}

@FwSchedule({ cron: '0 3 * * *' })
export class UnmarkedAction extends Nothing {}
