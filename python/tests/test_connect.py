"""A server gives the answers that the folder gives."""

import pickle
import socket
import threading

import polars as pl
import pytest

import manyworlds as mw

GAME = "game-017"


class Coin(mw.Model):
    def catalogue(self, p):
        return mw.Catalogue({"coin": {"heads": mw.flag()}}, ["coin"])


def test_answers_are_those_of_the_folder(remote, season):
    far, game, near = remote.ensembles["season"], remote.ensembles["season"][GAME], season[GAME]
    assert list(remote.ensembles) == ["season"] and (far.worlds, far.seed) == (season.worlds, season.seed)
    assert far.catalogue == season.catalogue and far.parameters == season.parameters
    conditions = ("home_margin > 3", "total_points > 40")
    assert game.probability(*conditions, given="game-018:home_won", min_worlds=1) == near.probability(
        *conditions, given="game-018:home_won", min_worlds=1
    )
    assert game.outcome("home_margin") == near.outcome("home_margin")
    assert game.outcome("home_margin").quantile(0.3) == near.outcome("home_margin").quantile(0.3)
    points = "10 * (home_points > 20) - (home_won)"
    assert game.outcome(points) == near.outcome(points)
    assert game.correlate("home_points", "away_points") == near.correlate("home_points", "away_points")
    assert far.compare(far, f"{GAME}:home_margin") == season.compare(season, f"{GAME}:home_margin")
    assert game.worlds("home_margin").tolist() == near.worlds("home_margin").tolist()
    assert far.world_numbers().tolist() == season.world_numbers().tolist()
    assert game.events(3).to_dicts() == near.events(3).to_dicts()
    frame = lambda ens: ens.lazy("game").select("entity", "home_margin").head(500).collect()  # noqa: E731
    assert frame(far).equals(frame(season))


def test_ensembles_of_two_servers_are_not_compared(remote):
    url, token, _ = remote._backend.arguments
    other = mw.connect(url.replace("127.0.0.1", "localhost"), token)
    with pytest.raises(mw.InvalidError, match="behind two servers"):
        remote.ensembles["season"].compare(other.ensembles["season"], f"{GAME}:home_margin")


def test_rows_and_sql(remote):
    assert remote.append("remote_rows", [{"host": "a", "ms": 3}, {"host": "b", "ms": 5}]) == 2
    assert remote.append("remote_rows", pl.DataFrame({"host": ["c"], "ms": [7]})) == 1
    assert remote.sql("SELECT sum(ms) AS s FROM remote_rows").to_dicts() == [{"s": 15}]
    assert remote.ask("remote_rows", sum="ms").to_dicts() == [{"sum(ms)": 15}]
    assert "default.remote_rows" in remote.tables
    with pytest.raises(mw.RefusedRowsError, match="refused 1") as raised:
        remote.append("remote_rows", [{"ms": 1}, {"ms": "late"}], on_conflict="refuse")
    assert raised.value.stored == 1 and raised.value.refused[0]["field"] == "ms"
    frame = pl.DataFrame({"ms": ["late"] * 300 + [None]})
    with pytest.raises(mw.RefusedRowsError, match="refused 300 of the rows, stored 1; first: row 1: ms") as raised:
        remote.append("remote_rows", frame, on_conflict="refuse")


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda d: d.ensembles["nothing"], mw.UnknownNameError, "there are: season"),
        (lambda d: d.ensembles["season"]["game-999"], mw.UnknownNameError, "did you mean game-"),
        (lambda d: d.ensembles["season"][GAME].probability("home_margn > 1"), mw.InvalidError, "did you mean home_margin"),
        (lambda d: d.ensembles["season"].outcome(GAME, "home_margn"), mw.UnknownNameError, "did you mean home_margin"),
        (lambda d: d.ensembles["season"][GAME].probability("home_won", given="home_margin > 90"), mw.TooFewWorldsError, "0 of 200"),
        (lambda d: d.sql("SELECT"), mw.InvalidError, "invalid SQL"),
        (lambda d: d.ask("nothing", count=True), mw.UnknownNameError, "nothing"),
        (lambda d: d.sql("SELECT nothing FROM ensembles"), mw.UnknownNameError, 'no column "nothing"'),
        (lambda d: d.sql("SELECT * FROM nothing"), mw.UnknownNameError, 'no table "nothing"'),
        (lambda d: d.sql("SELECT nothing(1)"), mw.UnknownNameError, "no function"),
        (lambda d: d.sql("SELECT * FROM events('season', 'game-999', 1)"), mw.UnknownNameError, "game-999"),
        (lambda d: d.ensembles["season"].sql("SELECT 1 +"), mw.InvalidError, "invalid SQL"),
        (lambda d: d.sql("SELECT " + "1+" * 60_000 + "1"), mw.LimitError, "too large"),
        (lambda d: d.ask("class_rows", avg="ns"), mw.UnknownNameError, "ns"),
        (lambda d: d.ask("class_rows", avg="host"), mw.InvalidError, "the column holds text"),
        (lambda d: d.ensembles["season"].book([{"legs": "home_won", "stake": 1, "odds": 0.5}], entity=GAME), mw.InvalidError, "bet 1, odds"),
        (lambda d: d.ensembles["season"].book([{"legs": "home_wn", "stake": 1, "odds": 2}], entity=GAME), mw.InvalidError, "bet 1, legs"),
        (lambda d: d.ensembles["season"].book([]), mw.InvalidError, "bet"),
        (lambda d: d.ensembles["season"].book([{"legs": "home_won", "stake": 1, "odds": 2, "entity": float("nan")}]), mw.InvalidError, "bet 1 has entity nan"),
    ],
)
def test_errors_are_the_same_classes(data, remote, ask, error, words):
    for place in (data, remote):
        place.append("class_rows", [{"host": "a", "ms": 3}])
        with pytest.raises(error, match=words) as raised:
            ask(place)
        assert type(raised.value) is error
        if error is mw.TooFewWorldsError:
            assert (raised.value.matched, raised.value.worlds, raised.value.minimum) == (0, 200, 100)


def test_a_server_plays_no_models(remote, season):
    far = remote.ensembles["season"]
    with pytest.raises(mw.InvalidError, match="a server plays no models"):
        mw.run(Coin(), data=remote)
    with pytest.raises(mw.InvalidError, match="a server imports no numbers: give a folder or a bucket"):
        mw.write("queue", {"x": [1, 2]}, remote)
    with pytest.raises(mw.InvalidError, match="a server plays no worlds again: open its data folder"):
        far.verify(replay=True)
    for one, other in ((far, season), (season, far)):
        with pytest.raises(mw.InvalidError, match="one ensemble is behind a server and the other is not"):
            one.compare(other, f"{GAME}:home_margin")
        with pytest.raises(mw.LimitError, match="outcomes in common: name some"):
            one.compare(one)


def test_checks_and_sql_are_those_of_the_folder(remote, season):
    far = remote.ensembles["season"]
    found = far.verify()
    assert found == season.verify() and found.hash
    query = f"SELECT count(*) AS n, count(DISTINCT ensemble) AS e FROM outcomes WHERE entity = '{GAME}'"
    assert far.sql(query).to_dicts() == season.sql(query).to_dicts()
    with pytest.raises(mw.UnknownNameError, match="there are: season"):
        remote._backend.sql("SELECT 1", type("Gone", (), {"summary": lambda self: {"ensemble": "gone"}})())


BETS = [
    {"legs": ["home_points > away_points", "total_points > 40"], "stake": 10, "odds": 3.1, "id": "both"},
    {"legs": "home_points < away_points", "stake": "2.5", "odds": 2, "side": "lay", "entity": "game-018"},
]


def test_books_are_the_same_from_rows_files_and_servers(remote, season, tmp_path):
    file = tmp_path / "bets.csv"
    file.write_text(
        "legs,stake,odds,id,side,entity\nhome_points > away_points; total_points > 40,10,3.1,both,,\n"
        "home_points < away_points,2.5,2,,lay,game-018\n"
    )
    options = dict(entity=GAME, levels=[0.9], worst=3)
    book = season.book(BETS, **options)
    assert book == season.book(file, **options) == remote.ensembles["season"].book(BETS, **options)
    assert book == remote.ensembles["season"].book(str(file), **options)
    won = season.probability("home_points > away_points", "total_points > 40", entity=GAME)
    assert (book.stake, book.worlds, len(book.worst), book.bets[0].id) == (12.5, 200, 3, "both")
    assert book.bets[0].probability == won.probability and book.tails[0].level == 0.9
    assert abs(book.mean - sum(bet.expected_profit for bet in book.bets)) < 1e-9
    assert '<img' in book._repr_html_() and 'alt="histogram of profit"' in book._repr_html_()
    file.write_text("legs,stake,odds\nhome_won,1,evens\n")
    with pytest.raises(mw.InvalidError, match="bets.csv, line 2, column odds: expected a decimal number"):
        season.book(file)
    with pytest.raises(mw.StorageError, match="cannot read"):
        season.book(tmp_path / "nothing.csv")


def test_a_body_over_the_limit_shows_the_reply(remote):
    for body in (b"x" * (33 << 20), b"x" * (200 << 20)):
        with pytest.raises(mw.LimitError, match="the body exceeds 33554432 bytes: send smaller requests"):
            remote._backend.request("/api/v1/write/json?table=t", body)


@pytest.mark.parametrize("status", [None, b"200 OK", b"503 Service Unavailable"])
def test_a_silent_server_is_left_after_the_timeout(status):
    reply = b"" if status is None else b"HTTP/1.1 %s\r\ncontent-length: 2\r\n\r\n[" % status
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(20)
        silent = mw.connect(f"http://127.0.0.1:{listening.getsockname()[1]}", timeout=0.2)
        for data in (silent, pickle.loads(pickle.dumps(silent))):
            ended = threading.Event()

            def answer():
                with listening.accept()[0] as connection:
                    connection.sendall(reply)
                    # A client without a timeout gets an error of another kind after this one.
                    ended.wait(10)

            thread = threading.Thread(target=answer)
            thread.start()
            try:
                with pytest.raises(mw.StorageError, match="cannot reach http://127.0.0.1:.*timed out"):
                    list(data.ensembles)
            finally:
                ended.set()
                thread.join()


def test_access_and_addresses(server, remote):
    for token in (None, "wrong"):
        with pytest.raises(mw.AccessError):
            list(mw.connect(server[0], token).ensembles)
    with pytest.raises(mw.StorageError, match="cannot reach http://127.0.0.1:9"):
        list(mw.connect("http://127.0.0.1:9").ensembles)
    with pytest.raises(mw.InvalidError, match="not a server's address"):
        mw.connect("127.0.0.1:8080")
    with pytest.raises(mw.InvalidError, match="the token has a line break"):
        mw.connect(server[0], "secret\n")
    copy = pickle.loads(pickle.dumps(remote))
    assert list(copy.ensembles) == ["season"] and copy.place == server[0]
