import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.*;
import java.util.*;
import org.postgresql.PGConnection;

/** Prints what pgjdbc's DatabaseMetaData finds in a database, a line for each method. Arguments: URL, password, schema. */
public class Metadata {
    private static String list(ResultSet found, String... columns) throws SQLException {
        List<String> rows = new ArrayList<>();
        while (found.next()) {
            List<String> values = new ArrayList<>();
            for (String column : columns) values.add(found.getString(column));
            rows.add(String.join(" ", values));
        }
        return String.join(",", rows);
    }

    /** The arguments of a method: names of the table and its schema, and any column. */
    private static Object[] arguments(Method method, String schema, String table) {
        Class<?>[] types = method.getParameterTypes();
        Object[] values = new Object[types.length];
        int names = 0;
        for (int place = 0; place < types.length; place++) {
            if (types[place] == String.class) {
                values[place] = new String[] {null, schema, table, "%"}[Math.min(names++, 3)];
            } else if (types[place] == boolean.class) {
                values[place] = true;
            } else if (types[place] == int.class) {
                values[place] = 1;
            }
        }
        return values;
    }

    /** Calls every method, reads its rows, and lists those that fail. The driver itself lacks some. */
    private static String failed(DatabaseMetaData data, String schema, String table) throws Exception {
        List<String> failed = new ArrayList<>();
        int called = 0;
        for (Method method : DatabaseMetaData.class.getMethods()) {
            if (method.getDeclaringClass() != DatabaseMetaData.class) continue;
            try {
                Object found = method.invoke(data, arguments(method, schema, table));
                if (found instanceof ResultSet) list((ResultSet) found);
                called++;
            } catch (InvocationTargetException error) {
                boolean isLacking = error.getCause() instanceof SQLFeatureNotSupportedException;
                if (!isLacking) failed.add(method.getName() + ": " + error.getCause().getMessage());
            }
        }
        return called + " " + failed;
    }

    public static void main(String[] words) throws Exception {
        String schema = words[2], table = "cpu";
        try (Connection connection = DriverManager.getConnection(words[0], "me", words[1])) {
            DatabaseMetaData data = connection.getMetaData();
            try (ResultSet found = data.getTables(null, schema, "%", null)) {
                found.next();
                System.out.printf("tables=%s.%s:%s%n", found.getString(2), found.getString(3), found.getString(4));
            }
            String[] columns = {"ORDINAL_POSITION", "COLUMN_NAME", "TYPE_NAME", "DATA_TYPE"};
            System.out.println("columns=" + list(data.getColumns(null, schema, table, "%"), columns));
            System.out.println("schemas=" + list(data.getSchemas(), "TABLE_SCHEM"));
            System.out.println("catalogs=" + list(data.getCatalogs(), "TABLE_CAT"));
            System.out.println("primary=" + list(data.getPrimaryKeys(null, schema, table), "COLUMN_NAME"));
            System.out.println("indexes=" + list(data.getIndexInfo(null, schema, table, false, true), "INDEX_NAME"));
            System.out.println("imported=" + list(data.getImportedKeys(null, schema, table), "FK_NAME"));
            System.out.println("exported=" + list(data.getExportedKeys(null, schema, table), "FK_NAME"));
            System.out.println("functions=" + list(data.getFunctions(null, schema, "%"), "FUNCTION_NAME"));
            System.out.println("procedures=" + list(data.getProcedures(null, schema, "%"), "PROCEDURE_NAME"));
            System.out.println("udts=" + list(data.getUDTs(null, schema, "%", null), "TYPE_NAME"));
            System.out.println("types=" + list(data.getTypeInfo(), "TYPE_NAME"));
            System.out.println("keywords=" + data.getSQLKeywords());
            data.getBestRowIdentifier(null, schema, table, DatabaseMetaData.bestRowSession, true).close();
            System.out.println("privileges=" + list(data.getTablePrivileges(null, schema, table), "GRANTEE", "PRIVILEGE"));
            System.out.println("failed=" + failed(data, schema, table));
            connection.setSchema("sim");
            connection.setSchema(schema);
            System.out.println("schema=" + connection.getSchema());
            String sql = "SELECT host, cores FROM cpu WHERE host = ? AND time <= ? AND cores >= ?";
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                statement.setString(1, "a");
                statement.setTimestamp(2, new Timestamp(1_760_000_000_000L));
                statement.setInt(3, 1);
                System.out.println("prepared=" + list(statement.executeQuery(), "host", "cores"));
            }
            try (PreparedStatement statement = connection.prepareStatement("SELECT count(*) AS n FROM cpu WHERE host = any(?)")) {
                statement.setArray(1, connection.createArrayOf("text", new String[] {"a", "c"}));
                System.out.println("any=" + list(statement.executeQuery(), "n"));
            }
            StringWriter copied = new StringWriter();
            String copy = "COPY (SELECT host, cores FROM cpu ORDER BY host) TO STDOUT WITH (FORMAT csv, HEADER)";
            long count = connection.unwrap(PGConnection.class).getCopyAPI().copyOut(copy, copied);
            System.out.println("copied=" + count + " " + copied.toString().replace("\n", "|"));
        }
    }
}
