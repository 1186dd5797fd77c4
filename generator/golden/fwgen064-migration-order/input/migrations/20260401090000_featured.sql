-- fw-gen: after 20260301120000_more
-- fw-gen: tables lots
alter table lots add column featured bool;
