-- fw-gen: after 20260301110000_after_the_merge
-- fw-gen: tables notes
alter table notes add column more text
