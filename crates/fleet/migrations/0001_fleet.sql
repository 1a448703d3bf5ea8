-- The ledger of a fleet: which ensembles there are, which of their ranges are done, and who plays them. What is stored
-- is told by the tables alone; the ledger may be behind them, never ahead.

-- Names this ledger's queues, so that two ledgers may share a broker.
CREATE TABLE fleet (
    id uuid PRIMARY KEY,
    one boolean NOT NULL DEFAULT true UNIQUE CHECK (one)
);

CREATE TABLE ensembles (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Name and version in the tables.
    name text NOT NULL,
    version bigint NOT NULL,
    model text NOT NULL,
    worlds bigint NOT NULL,
    range_worlds bigint NOT NULL,
    codec text NOT NULL,
    -- Whether it takes an older version's place when it is complete.
    replaces boolean NOT NULL,
    state text NOT NULL DEFAULT 'submitting'
        CHECK (state IN ('submitting', 'running', 'paused', 'cancelled', 'failed', 'enough', 'complete')),
    submitted_at timestamptz NOT NULL DEFAULT now(),
    -- When the first range was taken up, and when the last one was done.
    started_at timestamptz,
    finished_at timestamptz,
    -- Everything the model emits, by name.
    catalogue text NOT NULL,
    -- Of what is done: what is known of the outcomes that are followed, which takes part in no commit twice.
    aggregates bytea,
    -- Entity and outcome whose interval must be how narrow for the ensemble to be enough.
    until_entity bigint,
    until_outcome bigint,
    until_goal text,
    -- Nanoseconds that submitting took.
    submit_ns bigint NOT NULL DEFAULT 0,
    UNIQUE (name, version)
);

CREATE TABLE workers (
    id uuid PRIMARY KEY,
    host text NOT NULL,
    pid integer NOT NULL,
    threads integer NOT NULL,
    program text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now(),
    -- When it ended as it should; a worker that died is one that was not seen for long.
    ended_at timestamptz,
    -- Why it plays nothing, where that is so.
    trouble text
);

CREATE TABLE ranges (
    ensemble bigint NOT NULL REFERENCES ensembles ON DELETE CASCADE,
    first_world bigint NOT NULL,
    worlds bigint NOT NULL,
    state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'done', 'failed')),
    -- Whether a message for it was confirmed by the broker.
    published boolean NOT NULL DEFAULT false,
    -- How often it was taken up, and how often it failed. The others were cut short: a worker died, or gave it back.
    starts integer NOT NULL DEFAULT 0,
    failures integer NOT NULL DEFAULT 0,
    worker uuid,
    started_at timestamptz,
    finished_at timestamptz,
    error text,
    -- Where its time went, in nanoseconds.
    dispatch_ns bigint NOT NULL DEFAULT 0,
    wait_ns bigint NOT NULL DEFAULT 0,
    claim_ns bigint NOT NULL DEFAULT 0,
    simulate_ns bigint NOT NULL DEFAULT 0,
    encode_ns bigint NOT NULL DEFAULT 0,
    write_ns bigint NOT NULL DEFAULT 0,
    commit_ns bigint NOT NULL DEFAULT 0,
    note_ns bigint NOT NULL DEFAULT 0,
    acknowledge_ns bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (ensemble, first_world)
);

CREATE INDEX ranges_by_state ON ranges (ensemble, state);
CREATE INDEX ranges_by_time ON ranges (ensemble, finished_at) WHERE state = 'done';
