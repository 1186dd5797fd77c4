-- fw-gen: tables
select 1
