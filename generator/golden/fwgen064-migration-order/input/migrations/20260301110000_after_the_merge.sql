-- fw-gen: after 20260301100000_rating
-- fw-gen: tables notes
alter table notes add column pinned bool
