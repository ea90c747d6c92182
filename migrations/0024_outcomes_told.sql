-- What is small comes along with the word that a job has its outcome, so that whoever waits need not read it: most samples'
-- and every failure. A payload has less than 8,000 bytes, and what is stored may be compressed.
create or replace function notify_job_finished() returns trigger language plpgsql as $$
declare
    outcome text;
begin
    if pg_column_size(new.outcome) <= 1000 then
        outcome := new.outcome::text;
        if octet_length(outcome) <= 4000 then
            perform pg_notify('job_outcome', new.id || ' ' || outcome);
        end if;
    end if;
    perform pg_notify('job_finished', new.id);
    return new;
end
$$;
