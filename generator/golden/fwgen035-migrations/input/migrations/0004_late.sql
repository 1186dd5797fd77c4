select 1;
-- fw-gen: no transaction
select 2;
