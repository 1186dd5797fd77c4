create index wallets_owner_id_id on wallets (owner_id, id)
