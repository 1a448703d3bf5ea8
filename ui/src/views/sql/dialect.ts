import { SQLDialect } from "@codemirror/lang-sql";

/** The words of the server's SQL. Longer lists colour columns such as `load` and `value` as if they were syntax. */
export const DIALECT = SQLDialect.define({
  keywords:
    "all and anti any as asc between by case cast cross current desc describe distinct else end escape except exclude exists explain " +
    "analyze following for from full group having ilike in inner intersect interval into is join lateral left like limit natural not null " +
    "nulls first last of offset on or order outer over partition preceding qualify range recursive right row rows select semi show similar " +
    "tables then to try_cast unbounded union unnest using values when where window with within true false filter extract position",
  types:
    "bigint binary boolean bytea char date decimal double float int integer numeric real smallint string text time timestamp tinyint varchar",
  builtin:
    "abs approx_distinct approx_percentile_cont arrow_cast avg coalesce corr count date_bin date_part date_trunc dense_rank first_value floor " +
    "lag last_value lead length ln lower max median min now ntile nullif percent_rank random rank regexp_like regexp_replace round row_number " +
    "split_part sqrt stddev strpos substr sum to_timestamp trim trunc upper var events worlds",
  doubleDollarQuotedStrings: true,
  operatorChars: "+-*/<>=~!@#%^&|?",
});
