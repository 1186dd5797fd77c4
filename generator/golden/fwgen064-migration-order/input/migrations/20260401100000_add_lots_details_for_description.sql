-- fw-gen: after 20260301120000_more
-- fw-gen: tables lots
-- Release 1 of 2: lots.description becomes details, while processes of the previous release keep writing description.
-- Written once by fw-gen migrate rename. It is yours now: review it before you apply it.
-- fw-gen migrate rename begins: lots.description -> details
alter table lots add column details text;
