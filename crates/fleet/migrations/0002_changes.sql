-- Tells whoever listens that an ensemble came, or that something else is being done about it.
CREATE FUNCTION tell_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('manyworlds', NEW.id::text);
    RETURN NULL;
END
$$;

CREATE TRIGGER ensembles_come AFTER INSERT ON ensembles
    FOR EACH ROW EXECUTE FUNCTION tell_change();

CREATE TRIGGER ensembles_change AFTER UPDATE OF state ON ensembles
    FOR EACH ROW WHEN (OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION tell_change();
