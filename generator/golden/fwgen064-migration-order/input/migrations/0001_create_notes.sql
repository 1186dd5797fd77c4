-- fw-gen: first
-- fw-gen: tables notes
create table notes (id uuid primary key)
