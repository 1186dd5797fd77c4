-- Shard (1, 0) mexico-1: run in wallet_mexico on localhost as a superuser, before the connector starts.
-- The server needs wal_level = logical.
do $$ begin
  if not exists (select from pg_roles where rolname = 'fw_debezium') then
    create role fw_debezium login replication; -- set its password: \password fw_debezium
  end if;
end $$;
grant usage on schema eventlog to fw_debezium;
grant select on eventlog.events to fw_debezium;

-- Rows of every partition are published as rows of the partitioned table.
do $$ begin
  if not exists (select from pg_publication where pubname = 'fw_outbox') then
    create publication fw_outbox for table eventlog.events with (publish = 'insert', publish_via_partition_root = true);
  end if;
end $$;

-- The slot keeps the write-ahead log from here on, so the connector misses nothing, however late it starts.
select pg_create_logical_replication_slot('fw_outbox_1_0', 'pgoutput')
where not exists (select from pg_replication_slots where slot_name = 'fw_outbox_1_0');
