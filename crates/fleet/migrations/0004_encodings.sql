-- Which encodings stored pages may have: a range's files are the same bytes whoever writes them.
ALTER TABLE ensembles ADD COLUMN encodings text NOT NULL DEFAULT 'dense';
