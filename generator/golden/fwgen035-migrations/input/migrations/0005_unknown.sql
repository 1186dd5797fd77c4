-- fw-gen: without transaction
select 2;
