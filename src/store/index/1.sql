-- An index of version 1: what a directory of jobs does not tell.

-- Runs of programs. `driver` is the process, as JSON; without `ended` it still runs, or was killed.
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    digest TEXT NOT NULL,
    mode TEXT NOT NULL,
    scl TEXT NOT NULL,
    driver TEXT NOT NULL,
    planned INTEGER NOT NULL,
    started INTEGER NOT NULL,
    ended INTEGER,
    outcome TEXT
);
CREATE INDEX run_of_model ON run (model);

-- Batch tasks of a run whose keys are known. Times in milliseconds since 1970, memory in bytes for the whole job.
CREATE TABLE task (
    run INTEGER NOT NULL,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    variable TEXT NOT NULL,
    part INTEGER,
    parts INTEGER,
    joins INTEGER NOT NULL,
    key TEXT NOT NULL,
    made_of TEXT,
    cores INTEGER NOT NULL,
    memory INTEGER,
    walltime_ms INTEGER,
    state TEXT NOT NULL,
    attempt INTEGER,
    job TEXT,
    cause TEXT,
    started INTEGER,
    ended INTEGER,
    peak_rss INTEGER,
    cpu_us INTEGER,
    PRIMARY KEY (run, number)
) WITHOUT ROWID;
CREATE INDEX task_of_key ON task (key);

-- What a run printed.
CREATE TABLE line (
    run INTEGER NOT NULL,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (run, number)
) WITHOUT ROWID;
