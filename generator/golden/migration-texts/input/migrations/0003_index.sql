-- fw-gen: tables things
-- fw-gen: no transaction
create index concurrently things_note on things (note);
