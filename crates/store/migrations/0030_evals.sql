-- Runs of suites of tasks that measure models.
CREATE TABLE eval_runs (
    id UUID PRIMARY KEY,
    -- The user whose sessions the trials are.
    owner_id UUID NOT NULL REFERENCES users (id),
    name TEXT NOT NULL,
    -- The suite as YAML, as it was when the run began.
    suite TEXT NOT NULL,
    -- A JSON list.
    models TEXT NOT NULL,
    n_rounds BIGINT NOT NULL,
    n_parallel BIGINT NOT NULL,
    -- In billionths of a US dollar. Null for no budget.
    budget_nanousd BIGINT,
    state TEXT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    ended_at_ms BIGINT
);

CREATE INDEX eval_runs_by_owner ON eval_runs (owner_id, id);
CREATE INDEX eval_runs_open ON eval_runs (id) WHERE ended_at_ms IS NULL;

-- The trials of a run, in the order in which they begin.
CREATE TABLE eval_trials (
    run_id UUID NOT NULL REFERENCES eval_runs (id),
    number BIGINT NOT NULL,
    task TEXT NOT NULL,
    model TEXT NOT NULL,
    round BIGINT NOT NULL,
    state TEXT NOT NULL,
    -- The last line of the checker, or the problem.
    reason TEXT,
    -- The session may have been deleted since.
    session_id UUID,
    -- The answers of the model, and their price in billionths of a US dollar.
    n_steps BIGINT NOT NULL,
    cost_nanousd BIGINT NOT NULL,
    -- The price of attempts that a restart of the server cut short.
    lost_nanousd BIGINT NOT NULL,
    n_restarts BIGINT NOT NULL,
    -- The time that the model worked.
    duration_ms BIGINT,
    started_at_ms BIGINT,
    ended_at_ms BIGINT,
    PRIMARY KEY (run_id, number)
);
