-- fw-gen: after 0001_create_notes
-- fw-gen: tables tags
create table tags (id uuid primary key)
