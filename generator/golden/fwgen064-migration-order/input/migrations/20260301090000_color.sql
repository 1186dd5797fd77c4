-- fw-gen: after 0001_create_notes
-- fw-gen: tables notes
alter table notes add column color text
