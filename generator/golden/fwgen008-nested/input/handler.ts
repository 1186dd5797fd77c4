import { FwEventHandler } from 'fw-actions';

export const handlers = [() => { @FwEventHandler class OnNothing {} return OnNothing; }];
