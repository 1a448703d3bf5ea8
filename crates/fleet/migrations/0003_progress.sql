-- When the worker that took a range up last got on with it: that it is there holds no claim to a range by itself.
ALTER TABLE ranges ADD COLUMN progress_at timestamptz;
