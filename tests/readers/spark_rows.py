"""Reads tables with Spark, run by test_spark.py in an environment of its own: two versions of Spark share none.

Takes a JSON list of folders of Delta tables and their files on stdin. Prints, for each, its rows as Spark reads its files
and as Delta Lake for Spark reads the table."""

import json
import sys

from delta import configure_spark_with_delta_pip
from pyspark.sql import SparkSession

from rows import lines

builder = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.databricks.delta.snapshotPartitions", "1")
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
)
spark = configure_spark_with_delta_pip(builder).getOrCreate()
spark.sparkContext.setLogLevel("ERROR")


def read(frame):
    frame = frame.select(*sorted(frame.columns))
    return lines(frame.columns, (tuple(row) for row in frame.collect()))


answers = []
for table in json.load(sys.stdin):
    answer = {"delta": read(spark.read.format("delta").load(table["root"]))}
    if table["files"]:
        answer["files"] = read(spark.read.option("mergeSchema", "true").parquet(*table["files"]))
    answers.append(answer)
json.dump({"version": spark.version, "tables": answers}, sys.stdout)
spark.stop()
