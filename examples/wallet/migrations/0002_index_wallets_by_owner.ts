import { defineMigration, type Migration } from 'fw-actions/codegen';

/** For the list of an owner's wallets, page by page. */
export const migration: Migration = defineMigration(
  '0002_index_wallets_by_owner',
  'create index wallets_owner_id_id on wallets (owner_id, id)',
);
