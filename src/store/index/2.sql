-- Version 2: the names of the jobs that a run may have, as a list in JSON, for those that have not had their inputs.
ALTER TABLE run ADD COLUMN jobs TEXT;

-- What `scl why` looks for: the last time that a task of a name had a key.
CREATE INDEX task_of_name ON task (name, run);
