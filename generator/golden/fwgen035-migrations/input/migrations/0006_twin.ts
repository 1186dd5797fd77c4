import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration('0006_twin', 'select 1');
