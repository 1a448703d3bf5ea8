// Generated from the server's OpenAPI document: `npm run types -- ADDRESS`. Do not edit.
export interface paths {
    "/api/v1/ask": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Aggregate rows by group, with the options of the command `ask` */
        post: operations["post_api_v1_ask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/book": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Measure the risk of a book of bets */
        post: operations["post_api_v1_book"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/catalogue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Describe the outputs and parameters of an ensemble */
        get: operations["get_api_v1_catalogue"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Compare outcomes of two ensembles */
        post: operations["post_api_v1_compare"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/correlate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Correlate outcomes of an ensemble */
        post: operations["post_api_v1_correlate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/ensembles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the ensembles */
        get: operations["get_api_v1_ensembles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document */
        get: operations["get_api_v1_openapi_json"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/outcome": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Show how outcomes are distributed */
        post: operations["post_api_v1_outcome"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/price": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Estimate the probability that all conditions hold */
        post: operations["post_api_v1_price"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/query": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Query in SQL; rows as arrays */
        post: operations["post_api_v1_query"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/query/arrow": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Query in SQL; rows as an Arrow IPC stream */
        post: operations["post_api_v1_query_arrow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sql": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Query in SQL */
        post: operations["post_api_v1_sql"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Check everything stored of an ensemble */
        post: operations["post_api_v1_verify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/worlds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Return the values of outcomes in each world */
        post: operations["post_api_v1_worlds"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/write": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Store rows in MessagePack: columnar, rows, or batches of both */
        post: operations["post_api_v1_write"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/write/arrow": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Store rows of an Arrow IPC stream */
        post: operations["post_api_v1_write_arrow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/write/csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Store rows in CSV with a header */
        post: operations["post_api_v1_write_csv"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/write/json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Store rows, one JSON object per line */
        post: operations["post_api_v1_write_json"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/write/line-protocol": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Store rows in line protocol */
        post: operations["post_api_v1_write_line-protocol"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/write/msgpack": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Store rows in MessagePack: columnar, rows, or batches of both */
        post: operations["post_api_v1_write_msgpack"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/write": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Store rows in line protocol */
        post: operations["post_api_v2_write"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check that the server runs */
        get: operations["get_health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Metrics for Prometheus */
        get: operations["get_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check that the server runs, for clients of line protocol */
        get: operations["get_ping"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/query": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List databases and tables, for clients of InfluxDB */
        get: operations["get_query"];
        put?: never;
        /** List databases and tables, with a form as the body */
        post: operations["post_query"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check that the server accepts rows */
        get: operations["get_ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/write": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Store rows in line protocol */
        post: operations["post_write"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Error: {
            /** @description What failed, why, and what to do next */
            error: string;
            /** @description What was stored differently from what was sent */
            notices?: string[];
            refused?: {
                field?: string | null;
                /** @description Position of the item in the body, from 1 */
                position?: number;
                reason?: string;
                table?: string | null;
            }[];
            /** @description Rows that were stored */
            stored?: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    post_api_v1_ask: {
        parameters: {
            query?: {
                /** @description Format of the answer. Default: the header `accept` */
                format?: "json" | "csv" | "arrow";
            };
            header?: {
                /** @description Database of tables that are named without one. Default: `default` */
                "x-arc-database"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    asc?: boolean;
                    avg?: string[];
                    columns?: string[];
                    count?: boolean;
                    distinct?: string[];
                    group?: string[];
                    hist?: string[];
                    limit?: number;
                    loghist?: string[];
                    max?: string[];
                    min?: string[];
                    quantiles?: string[];
                    replace?: string[];
                    samples?: number;
                    since?: string;
                    sort?: string;
                    stddev?: string[];
                    sum?: string[];
                    table: string;
                    time?: string;
                    time_bucket?: string;
                    until?: string;
                    weight?: string;
                    where?: string[];
                };
            };
        };
        responses: {
            /** @description One row per group */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>[];
                    "application/vnd.apache.arrow.stream": unknown;
                    "text/csv": unknown;
                };
            };
            /** @description The request is malformed, or some of its rows are rejected; the others are stored */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The ensemble or table does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request arrived too slowly, or the query took too long: reduce its work */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large, or the query needs too much memory: send or select less */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_v1_book: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    bets: {
                        entity?: string;
                        id?: string;
                        legs: string[];
                        /** @description Decimal odds, above 1 */
                        odds: number | string;
                        /**
                         * @default back
                         * @enum {string}
                         */
                        side?: "back" | "lay";
                        /** @description 0 or more */
                        stake: number | string;
                    }[];
                    ensemble: string;
                    entity?: string;
                    given?: string[];
                    /**
                     * @default [
                     *       0.95,
                     *       0.99
                     *     ]
                     */
                    levels?: (number | string)[];
                    /** @default 100 */
                    min_worlds?: number;
                    /** @default 10 */
                    worst?: number;
                };
            };
        };
        responses: {
            /** @description The distribution of the profit, value at risk, expected shortfall, the worst worlds, and each bet */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description The request is malformed, or some of its rows are rejected; the others are stored */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The ensemble or table does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request arrived too slowly, or the query took too long: reduce its work */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large, or the query needs too much memory: send or select less */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_api_v1_catalogue: {
        parameters: {
            query: {
                /** @description The ensemble */
                ensemble: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The parameters and the catalogue */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description The request is malformed, or some of its rows are rejected; the others are stored */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The ensemble or table does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_v1_compare: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    first: string;
                    outcomes: string[];
                    second: string;
                };
            };
        };
        responses: {
            /** @description The differences */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>[];
                };
            };
            /** @description The request is malformed, or some of its rows are rejected; the others are stored */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The ensemble or table does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request arrived too slowly, or the query took too long: reduce its work */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large, or the query needs too much memory: send or select less */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_v1_correlate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    ensemble: string;
                    entity?: string;
                    outcomes?: string[];
                };
            };
        };
        responses: {
            /** @description The matrix of correlations */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description The request is malformed, or some of its rows are rejected; the others are stored */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The ensemble or table does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request arrived too slowly, or the query took too long: reduce its work */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large, or the query needs too much memory: send or select less */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_api_v1_ensembles: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The ensembles */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>[];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_api_v1_openapi_json: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
        };
    };
    post_api_v1_outcome: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    cdf?: boolean;
                    ensemble: string;
                    entities?: string[];
                    /** @description Names of outcomes, or expressions such as `wins - losses` */
                    outcomes: string[];
                };
            };
        };
        responses: {
            /** @description The distributions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>[];
                };
            };
            /** @description The request is malformed, or some of its rows are rejected; the others are stored */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The ensemble or table does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request arrived too slowly, or the query took too long: reduce its work */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large, or the query needs too much memory: send or select less */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_v1_price: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    ensemble: string;
                    entity?: string;
                    given?: string[];
                    legs: string[];
                    /** @default 100 */
                    min_worlds?: number;
                };
            };
        };
        responses: {
            /** @description The probability, its interval, and that of each condition alone */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description The request is malformed, or some of its rows are rejected; the others are stored */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The ensemble or table does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request arrived too slowly, or the query took too long: reduce its work */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large, or the query needs too much memory: send or select less */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_v1_query: {
        parameters: {
            query?: never;
            header?: {
                /** @description Database of tables that are named without one. Default: `default` */
                "x-arc-database"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The only ensemble that the query sees */
                    ensemble?: string;
                    sql: string;
                };
            };
        };
        responses: {
            /** @description The rows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        columns: string[];
                        data: unknown[][];
                        execution_time_ms: number;
                        row_count: number;
                        success: boolean;
                    };
                };
            };
            /** @description The request is malformed, or some of its rows are rejected; the others are stored */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request arrived too slowly, or the query took too long: reduce its work */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large, or the query needs too much memory: send or select less */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_v1_query_arrow: {
        parameters: {
            query?: never;
            header?: {
                /** @description Database of tables that are named without one. Default: `default` */
                "x-arc-database"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The only ensemble that the query sees */
                    ensemble?: string;
                    sql: string;
                };
            };
        };
        responses: {
            /** @description The rows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.apache.arrow.stream": unknown;
                };
            };
            /** @description The request is malformed, or some of its rows are rejected; the others are stored */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request arrived too slowly, or the query took too long: reduce its work */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large, or the query needs too much memory: send or select less */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_v1_sql: {
        parameters: {
            query?: {
                /** @description Format of the answer. Default: the header `accept` */
                format?: "json" | "csv" | "arrow";
            };
            header?: {
                /** @description Database of tables that are named without one. Default: `default` */
                "x-arc-database"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The only ensemble that the query sees */
                    ensemble?: string;
                    sql: string;
                };
            };
        };
        responses: {
            /** @description The rows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>[];
                    "application/vnd.apache.arrow.stream": unknown;
                    "text/csv": unknown;
                };
            };
            /** @description The request is malformed, or some of its rows are rejected; the others are stored */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request arrived too slowly, or the query took too long: reduce its work */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large, or the query needs too much memory: send or select less */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_v1_verify: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    ensemble: string;
                };
            };
        };
        responses: {
            /** @description The checks, and the content hashes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description The request is malformed, or some of its rows are rejected; the others are stored */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The ensemble or table does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request arrived too slowly, or the query took too long: reduce its work */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large, or the query needs too much memory: send or select less */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_v1_worlds: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    ensemble: string;
                    /** @description Without entities, each outcome names its own, as in `team-03:wins` */
                    entities?: string[];
                    /** @description Place of the first world among the stored ones */
                    first?: number;
                    /** @description Names of outcomes, or expressions such as `wins - losses`; none for the numbers of the worlds alone */
                    outcomes?: string[];
                    /** @description Refuse any other version */
                    version?: number;
                    /** @description Worlds to return. An answer has at most 4,194,304 values, with the numbers of the worlds */
                    worlds?: number;
                };
            };
        };
        responses: {
            /** @description The column `world`, and one for each outcome: booleans, 32-bit integers or 64-bit real numbers. The metadata has the ensemble's `version` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.apache.arrow.stream": unknown;
                };
            };
            /** @description The request is malformed, or some of its rows are rejected; the others are stored */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The ensemble or table does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request arrived too slowly, or the query took too long: reduce its work */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large, or the query needs too much memory: send or select less */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_v1_write: {
        parameters: {
            query?: never;
            header?: {
                /** @description Database of tables that are named without one. Default: `default` */
                "x-arc-database"?: string;
                /** @description Requests with the same key store their rows once within a day */
                "idempotency-key"?: string;
                /** @description What becomes of a value that its column does not hold: `overflow` keeps it as text in `NAME_text`, `refuse` refuses its row */
                "x-manyworlds-on-conflict"?: "overflow" | "refuse";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/msgpack": unknown;
            };
        };
        responses: {
            /** @description Every row is stored */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is malformed, or some of its rows are rejected; the others are stored */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request arrived too slowly, or the query took too long: reduce its work */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large, or the query needs too much memory: send or select less */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Memory is full or the disk too slow; nothing was stored: retry later */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_v1_write_arrow: {
        parameters: {
            query: {
                /** @description The table, as NAME or DATABASE.NAME */
                table: string;
            };
            header?: {
                /** @description Database of tables that are named without one. Default: `default` */
                "x-arc-database"?: string;
                /** @description Requests with the same key store their rows once within a day */
                "idempotency-key"?: string;
                /** @description What becomes of a value that its column does not hold: `overflow` keeps it as text in `NAME_text`, `refuse` refuses its row */
                "x-manyworlds-on-conflict"?: "overflow" | "refuse";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/vnd.apache.arrow.stream": unknown;
            };
        };
        responses: {
            /** @description Every row is stored */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is malformed, or some of its rows are rejected; the others are stored */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request arrived too slowly, or the query took too long: reduce its work */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large, or the query needs too much memory: send or select less */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Memory is full or the disk too slow; nothing was stored: retry later */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_v1_write_csv: {
        parameters: {
            query: {
                /** @description The table, as NAME or DATABASE.NAME */
                table: string;
            };
            header?: {
                /** @description Database of tables that are named without one. Default: `default` */
                "x-arc-database"?: string;
                /** @description Requests with the same key store their rows once within a day */
                "idempotency-key"?: string;
                /** @description What becomes of a value that its column does not hold: `overflow` keeps it as text in `NAME_text`, `refuse` refuses its row */
                "x-manyworlds-on-conflict"?: "overflow" | "refuse";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "text/csv": unknown;
            };
        };
        responses: {
            /** @description Every row is stored */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is malformed, or some of its rows are rejected; the others are stored */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request arrived too slowly, or the query took too long: reduce its work */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large, or the query needs too much memory: send or select less */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Memory is full or the disk too slow; nothing was stored: retry later */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_v1_write_json: {
        parameters: {
            query: {
                /** @description The table, as NAME or DATABASE.NAME */
                table: string;
            };
            header?: {
                /** @description Database of tables that are named without one. Default: `default` */
                "x-arc-database"?: string;
                /** @description Requests with the same key store their rows once within a day */
                "idempotency-key"?: string;
                /** @description What becomes of a value that its column does not hold: `overflow` keeps it as text in `NAME_text`, `refuse` refuses its row */
                "x-manyworlds-on-conflict"?: "overflow" | "refuse";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-ndjson": unknown;
            };
        };
        responses: {
            /** @description Every row is stored */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is malformed, or some of its rows are rejected; the others are stored */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request arrived too slowly, or the query took too long: reduce its work */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large, or the query needs too much memory: send or select less */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Memory is full or the disk too slow; nothing was stored: retry later */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "post_api_v1_write_line-protocol": {
        parameters: {
            query?: {
                /** @description The database */
                db?: string;
                /** @description The database, in version 2 of the protocol */
                bucket?: string;
                /** @description Unit of times */
                precision?: "ns" | "n" | "us" | "u" | "ms" | "s" | "m" | "h";
            };
            header?: {
                /** @description Database of tables that are named without one. Default: `default` */
                "x-arc-database"?: string;
                /** @description Requests with the same key store their rows once within a day */
                "idempotency-key"?: string;
                /** @description What becomes of a value that its column does not hold: `overflow` keeps it as text in `NAME_text`, `refuse` refuses its row */
                "x-manyworlds-on-conflict"?: "overflow" | "refuse";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "text/plain": unknown;
            };
        };
        responses: {
            /** @description Every row is stored */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is malformed, or some of its rows are rejected; the others are stored */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request arrived too slowly, or the query took too long: reduce its work */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large, or the query needs too much memory: send or select less */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Memory is full or the disk too slow; nothing was stored: retry later */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_v1_write_msgpack: {
        parameters: {
            query?: never;
            header?: {
                /** @description Database of tables that are named without one. Default: `default` */
                "x-arc-database"?: string;
                /** @description Requests with the same key store their rows once within a day */
                "idempotency-key"?: string;
                /** @description What becomes of a value that its column does not hold: `overflow` keeps it as text in `NAME_text`, `refuse` refuses its row */
                "x-manyworlds-on-conflict"?: "overflow" | "refuse";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/msgpack": unknown;
            };
        };
        responses: {
            /** @description Every row is stored */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is malformed, or some of its rows are rejected; the others are stored */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request arrived too slowly, or the query took too long: reduce its work */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large, or the query needs too much memory: send or select less */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Memory is full or the disk too slow; nothing was stored: retry later */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_api_v2_write: {
        parameters: {
            query?: {
                /** @description The database */
                db?: string;
                /** @description The database, in version 2 of the protocol */
                bucket?: string;
                /** @description Unit of times */
                precision?: "ns" | "n" | "us" | "u" | "ms" | "s" | "m" | "h";
            };
            header?: {
                /** @description Database of tables that are named without one. Default: `default` */
                "x-arc-database"?: string;
                /** @description Requests with the same key store their rows once within a day */
                "idempotency-key"?: string;
                /** @description What becomes of a value that its column does not hold: `overflow` keeps it as text in `NAME_text`, `refuse` refuses its row */
                "x-manyworlds-on-conflict"?: "overflow" | "refuse";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "text/plain": unknown;
            };
        };
        responses: {
            /** @description Every row is stored */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is malformed, or some of its rows are rejected; the others are stored */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request arrived too slowly, or the query took too long: reduce its work */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large, or the query needs too much memory: send or select less */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Memory is full or the disk too slow; nothing was stored: retry later */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It does */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        status: string;
                    };
                };
            };
        };
    };
    get_metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The metrics */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": unknown;
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_ping: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It does */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_query: {
        parameters: {
            query?: {
                /** @description `SHOW DATABASES`, `SHOW MEASUREMENTS` or `CREATE DATABASE d` */
                q?: string;
                /** @description The database whose tables to list */
                db?: string;
            };
            header?: {
                /** @description Database of tables that are named without one. Default: `default` */
                "x-arc-database"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Names, one per row */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description The request is malformed, or some of its rows are rejected; the others are stored */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request arrived too slowly, or the query took too long: reduce its work */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large, or the query needs too much memory: send or select less */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_query: {
        parameters: {
            query?: {
                /** @description `SHOW DATABASES`, `SHOW MEASUREMENTS` or `CREATE DATABASE d` */
                q?: string;
                /** @description The database whose tables to list */
                db?: string;
            };
            header?: {
                /** @description Database of tables that are named without one. Default: `default` */
                "x-arc-database"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": unknown;
            };
        };
        responses: {
            /** @description Names, one per row */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description The request is malformed, or some of its rows are rejected; the others are stored */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request arrived too slowly, or the query took too long: reduce its work */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large, or the query needs too much memory: send or select less */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    get_ready: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It does */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        status: string;
                    };
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    post_write: {
        parameters: {
            query?: {
                /** @description The database */
                db?: string;
                /** @description The database, in version 2 of the protocol */
                bucket?: string;
                /** @description Unit of times */
                precision?: "ns" | "n" | "us" | "u" | "ms" | "s" | "m" | "h";
            };
            header?: {
                /** @description Database of tables that are named without one. Default: `default` */
                "x-arc-database"?: string;
                /** @description Requests with the same key store their rows once within a day */
                "idempotency-key"?: string;
                /** @description What becomes of a value that its column does not hold: `overflow` keeps it as text in `NAME_text`, `refuse` refuses its row */
                "x-manyworlds-on-conflict"?: "overflow" | "refuse";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "text/plain": unknown;
            };
        };
        responses: {
            /** @description Every row is stored */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is malformed, or some of its rows are rejected; the others are stored */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token is missing or unknown */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The token does not permit this */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The request arrived too slowly, or the query took too long: reduce its work */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large, or the query needs too much memory: send or select less */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Memory is full or the disk too slow; nothing was stored: retry later */
            429: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An internal error: see the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The disk fails, the tokens cannot be read, too many queries run, or the server is closing: retry later */
            503: {
                headers: {
                    /** @description Seconds to wait */
                    "retry-after"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
