import { FwEventHandler } from 'fw-actions';

export @FwEventHandler class Plain {}
