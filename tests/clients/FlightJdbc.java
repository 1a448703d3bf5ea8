import java.math.BigDecimal;
import java.sql.*;
import java.time.OffsetDateTime;
import java.util.*;
import java.util.concurrent.*;

/**
 * Prints what the JDBC driver for Flight SQL finds, a line for each check. Arguments: URL, database, and the token if
 * there is one. Ends the process at once when a check takes too long, so that nothing waits for the driver's threads.
 */
public class FlightJdbc {
    interface Check {
        Object run() throws Exception;
    }

    static final ExecutorService THREADS = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    });

    static void check(String name, Check check) throws Exception {
        Future<Object> done = THREADS.submit(check::run);
        try {
            System.out.println(name + "=" + done.get(20, TimeUnit.SECONDS));
        } catch (ExecutionException failed) {
            System.out.println(name + "=failed: " + failed.getCause().getMessage());
        }
    }

    static String text(Object value) throws SQLException {
        if (value instanceof byte[]) return Arrays.toString((byte[]) value);
        return value instanceof Array ? Arrays.deepToString((Object[]) ((Array) value).getArray()) : String.valueOf(value);
    }

    /** The driver reads times with a zone only if it is told as what, or by the name of their column. */
    static Object value(ResultSet found, int column) throws SQLException {
        boolean zoned = found.getMetaData().getColumnType(column) == Types.TIMESTAMP_WITH_TIMEZONE;
        return zoned ? found.getObject(column, OffsetDateTime.class) : found.getObject(column);
    }

    static String rows(ResultSet found) throws SQLException {
        try (found) {
            StringJoiner rows = new StringJoiner(";");
            while (found.next()) {
                StringJoiner row = new StringJoiner(",");
                for (int i = 1; i <= found.getMetaData().getColumnCount(); i++) row.add(text(value(found, i)));
                rows.add(row.toString());
            }
            return rows.toString();
        }
    }

    static String list(ResultSet found, String... columns) throws SQLException {
        try (found) {
            StringJoiner rows = new StringJoiner(",");
            while (found.next()) {
                StringJoiner row = new StringJoiner(" ");
                for (String column : columns) row.add(found.getString(column));
                rows.add(row.toString());
            }
            return rows.toString();
        }
    }

    static String ask(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return rows(statement.executeQuery(sql));
        }
    }

    static String with(Connection connection, String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) statement.setObject(i + 1, values[i]);
            return rows(statement.executeQuery());
        }
    }

    public static void main(String[] words) throws Exception {
        Properties settings = new Properties();
        settings.put("useEncryption", "false");
        settings.put("database", words[1]);
        if (words.length > 2) settings.put("token", words[2]);
        Connection connection = THREADS.submit(() -> DriverManager.getConnection(words[0], settings)).get(20, TimeUnit.SECONDS);
        metadata(connection.getMetaData(), words[1]);
        values(connection);
        parameters(connection);
        statements(connection);
        check("close", () -> {
            connection.close();
            return connection.isClosed();
        });
        System.exit(0);
    }

    static void metadata(DatabaseMetaData data, String schema) throws Exception {
        // All that needs no argument: no method fails, whatever it answers.
        for (var method : DatabaseMetaData.class.getMethods()) {
            if (method.getParameterCount() > 0 || method.getReturnType() == RowIdLifetime.class) continue;
            try {
                Object found = THREADS.submit(() -> method.invoke(data)).get(20, TimeUnit.SECONDS);
                if (found instanceof ResultSet) ((ResultSet) found).close();
            } catch (ExecutionException failed) {
                System.out.println("failed " + method.getName() + "=" + failed.getCause().getCause());
            }
        }
        check("product", () -> data.getDatabaseProductName());
        check("catalogs", () -> rows(data.getCatalogs()));
        check("schemas", () -> list(data.getSchemas(), "TABLE_SCHEM"));
        check("table types", () -> rows(data.getTableTypes()));
        check("tables", () -> list(data.getTables(null, schema, "%", null), "TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE"));
        String[] columns = {"ORDINAL_POSITION", "COLUMN_NAME", "TYPE_NAME", "DATA_TYPE"};
        check("columns", () -> list(data.getColumns(null, schema, "cpu", "%"), columns));
        check("primary", () -> rows(data.getPrimaryKeys(null, schema, "cpu")));
        check("imported", () -> rows(data.getImportedKeys(null, schema, "cpu")));
        check("exported", () -> rows(data.getExportedKeys(null, schema, "cpu")));
        check("types", () -> rows(data.getTypeInfo()));
    }

    static void values(Connection connection) throws Exception {
        String[] expressions = {
            "true", "1::TINYINT", "-3::SMALLINT", "1::INT", "9223372036854775807", "1.5::REAL", "2.5", "'-inf'::DOUBLE",
            "'ü;''x'", "upper(host)", "X'00ff'", "DATE '1969-12-31'", "TIME '10:00:00.5'",
            "TIMESTAMP '1999-12-31 23:59:59.999999'", "TIMESTAMPTZ '1999-12-31 23:59:59.999999Z'",
            "-12345.678::DECIMAL(12, 4)", "['a', NULL, 'b']", "[1, 2]", "{'a': 1, 'b': 'x'}",
            "arrow_cast('x', 'Dictionary(Int32, Utf8)')", "arrow_cast('x', 'Utf8View')", "arrow_cast(X'00ff', 'BinaryView')",
            "[arrow_cast('x', 'Utf8View')]", "NULL",
        };
        for (String value : expressions) {
            check("value " + value, () -> ask(connection, "SELECT " + value + " AS v FROM cpu WHERE host = 'a'"));
        }
        check("unsigned", () -> {
            try (Statement statement = connection.createStatement();
                    ResultSet found = statement.executeQuery("SELECT 18446744073709551615 AS v")) {
                found.next();
                return found.getString(1);
            }
        });
        check("rows", () -> ask(connection, "SELECT * FROM cpu ORDER BY host"));
        check("many", () -> {
            try (Statement statement = connection.createStatement();
                    ResultSet found = statement.executeQuery("SELECT value FROM generate_series(1, 100000)")) {
                long sum = 0;
                while (found.next()) sum += found.getLong(1);
                return sum;
            }
        });
    }

    static void parameters(Connection connection) throws Exception {
        Timestamp time = Timestamp.valueOf("2025-10-09 08:00:00.5");
        Object[][] all = {
            {"BOOLEAN", true}, {"SMALLINT", (short) 3}, {"INT", 3}, {"BIGINT", 3L}, {"REAL", 1.5f}, {"DOUBLE", 2.5},
            {"TEXT", "it's"}, {"BYTEA", new byte[] {0, -1}}, {"DATE", java.sql.Date.valueOf("2025-10-09")},
            {"TIME", Time.valueOf("10:00:01")}, {"TIMESTAMP", time}, {"TIMESTAMPTZ", time},
            // The driver sends decimals only with the scale that it is asked for.
            {"DECIMAL(12, 4)", new BigDecimal("-12.345").setScale(10)},
        };
        for (Object[] one : all) {
            check("parameter " + one[0], () -> with(connection, "SELECT ?::" + one[0] + " AS v", one[1]));
        }
        check("nothing", () -> {
            try (PreparedStatement statement = connection.prepareStatement("SELECT ?::BIGINT AS v")) {
                statement.setNull(1, Types.BIGINT);
                return rows(statement.executeQuery());
            }
        });
        String sql = "SELECT host, cores FROM cpu WHERE cores > ? AND host <> ? AND time >= ?";
        check("prepared", () -> with(connection, sql, 1L, "a", Timestamp.valueOf("2000-01-01 00:00:00")));
        check("late", () -> with(connection, sql, 1L, "x", Timestamp.valueOf("2100-01-01 00:00:00")));
        check("described", () -> {
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                ParameterMetaData wanted = statement.getParameterMetaData();
                StringJoiner types = new StringJoiner(" ");
                for (int i = 1; i <= wanted.getParameterCount(); i++) types.add(wanted.getParameterTypeName(i));
                return types + ": " + statement.getMetaData().getColumnName(1);
            }
        });
        check("again", () -> {
            try (PreparedStatement statement = connection.prepareStatement("SELECT host FROM cpu WHERE cores > ? ORDER BY host")) {
                statement.setLong(1, 1);
                String first = rows(statement.executeQuery());
                statement.setLong(1, 8);
                return first + "|" + rows(statement.executeQuery());
            }
        });
    }

    static void statements(Connection connection) throws Exception {
        String endless = "SELECT count(*) FROM generate_series(1, 100000000000)";
        check("at most", () -> {
            try (Statement statement = connection.createStatement()) {
                statement.setMaxRows(3);
                return rows(statement.executeQuery("SELECT value FROM generate_series(1, 100000) ORDER BY 1"));
            }
        });
        check("unknown column", () -> ask(connection, "SELECT nope FROM cpu"));
        check("drop", () -> ask(connection, "DROP TABLE cpu"));
        check("insert", () -> connection.createStatement().executeUpdate("INSERT INTO cpu VALUES (1)"));
        check("while it runs", () -> ask(connection, "SELECT 1 / (value - 50000) FROM generate_series(1, 100000)"));
        check("cancel", () -> {
            try (Statement statement = connection.createStatement()) {
                THREADS.submit(() -> {
                    Thread.sleep(1000);
                    statement.cancel();
                    return null;
                });
                return rows(statement.executeQuery(endless));
            }
        });
        check("timeout", () -> {
            try (Statement statement = connection.createStatement()) {
                statement.setQueryTimeout(1);
                return rows(statement.executeQuery(endless));
            }
        });
        check("after", () -> ask(connection, "SELECT 1"));
    }
}
