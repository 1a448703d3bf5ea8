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
    "/api/v1/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop a run now; its stored worlds stay readable */
        post: operations["post_api_v1_cancel"];
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
    "/api/v1/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Find the faults of a definition */
        post: operations["post_api_v1_check"];
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
    "/api/v1/definition": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Return a version of a definition */
        get: operations["get_api_v1_definition"];
        put?: never;
        /** Save a version of a definition */
        post: operations["post_api_v1_definition"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/definitions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the kept definitions */
        get: operations["get_api_v1_definitions"];
        put?: never;
        post?: never;
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
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Return the events of an entity in one world */
        post: operations["post_api_v1_events"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Report rates and memory of the last hour */
        get: operations["get_api_v1_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/leverage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Find the events that move a probability most */
        post: operations["post_api_v1_leverage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Exchange a token for a cookie of a browser */
        post: operations["post_api_v1_login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Remove the cookie */
        post: operations["post_api_v1_logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Report the logs of tables */
        get: operations["get_api_v1_logs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Describe the models */
        get: operations["get_api_v1_models"];
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
    "/api/v1/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop a run at the end of the ranges in progress */
        post: operations["post_api_v1_pause"];
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
    "/api/v1/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Continue a paused run with its stored plan */
        post: operations["post_api_v1_resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Continue a run that failed or was cancelled */
        post: operations["post_api_v1_retry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Play an ensemble in a process of this server */
        post: operations["post_api_v1_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Report the permissions of the request */
        get: operations["get_api_v1_session"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Report the settings as they were given, without passwords */
        get: operations["get_api_v1_settings"];
        put?: never;
        post?: never;
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
    "/api/v1/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Report what runs, and what can be done with it */
        get: operations["get_api_v1_status"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/status/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Watch what runs */
        get: operations["get_api_v1_status_stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/submit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Submit an ensemble to the fleet */
        post: operations["post_api_v1_submit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Return the model's own tables about one world */
        post: operations["post_api_v1_summary"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/table": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Describe a table of rows */
        get: operations["get_api_v1_table"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tables": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the tables of rows */
        get: operations["get_api_v1_tables"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the tokens */
        get: operations["get_api_v1_tokens"];
        put?: never;
        /** Create a token */
        post: operations["post_api_v1_tokens"];
        /** Revoke a token at once */
        delete: operations["delete_api_v1_tokens"];
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
        Checked: {
            advice: components["schemas"]["DefinitionFault"][];
            canonical: string | null;
            faults: components["schemas"]["DefinitionFault"][];
            is_part: boolean;
            uses: {
                name: string;
                version: number;
            }[];
            valid: boolean;
        };
        Comparison: {
            /** @description The 95% confidence interval: both ends */
            ci: number[] | null;
            ci_half_width: number | null;
            correlation: number | null;
            difference: number | ("NaN" | "Infinity" | "-Infinity");
            is_paired: boolean;
            means: (number | ("NaN" | "Infinity" | "-Infinity"))[];
            outcome: string;
            shares: number[] | null;
            unpaired_half_width: number | null;
            worlds: number;
        };
        Correlations: {
            entity: string | null;
            matrix: (number | null)[][];
            outcomes: string[];
            worlds: number;
        };
        Definition: {
            created: string;
            model: string;
            name: string;
            text: string;
            version: number;
        };
        DefinitionFault: {
            column?: number;
            line?: number;
            part?: string;
            place: string;
            reason: string;
        };
        Description: {
            catalogue: {
                entities: {
                    kind: number;
                    members: string[];
                    name: string;
                    title: string;
                }[];
                events: {
                    doc: string;
                    kind: ("i8" | "i16" | "i32" | "f64") | {
                        label: string[];
                    };
                    members?: Record<string, never>;
                    name: string;
                    nullable: boolean;
                }[];
                kinds: {
                    name: string;
                    outcomes: {
                        /** @enum {string} */
                        kind: "number" | "flag" | "code" | "real";
                        labels?: string[];
                        name: string;
                        scale: number;
                        unit: string;
                    }[];
                }[];
            };
            ensemble: string;
            parameters: {
                [key: string]: unknown;
            };
        };
        Ensemble: {
            created?: string;
            definition?: {
                hash: string;
            } | null;
            enough?: string | null;
            ensemble: string;
            /** @description Why it cannot be read */
            error?: string;
            event_bytes?: number;
            /** @enum {string} */
            events?: "store" | "compact" | "replay";
            model?: string;
            outcome_bytes?: number;
            parameters?: {
                [key: string]: unknown;
            };
            planned?: number;
            seed?: number;
            /** @enum {string} */
            state: "complete" | "enough" | "incomplete" | "unreadable";
            version?: number;
            worlds?: number;
        };
        Error: {
            /** @description What failed, why, and what to do next */
            error: string;
            /** @description The kind of the error, for programs */
            kind?: string;
            /** @description What was stored differently from what was sent */
            notices?: string[];
            /** @description Position of the error in `text`, in bytes from 0 */
            position?: number;
            /** @description The first refused items, at most 100 */
            refused?: {
                field?: string | null;
                /** @description The item's line, from 1, or index, from 0, in the body */
                position?: number;
                reason?: string;
                /** @description Without a position: the first such row among its table's, from 1 */
                row?: number;
                table?: string | null;
            }[];
            /** @description Items and rows that were refused */
            refused_count?: number;
            /** @description Rows that were stored */
            stored?: number;
            /** @description The expression with the error */
            text?: string;
        };
        Events: {
            columns: string[];
            rows: (number | string | null)[][];
            total: number;
        };
        EventsQuestion: {
            ensemble: string;
            entity: string;
            /** @default 1000 */
            limit: number;
            /** @default 0 */
            offset: number;
            /** @description Conditions over the columns; all must hold */
            where?: string | string[];
            world: number;
        };
        Grant: {
            admin: boolean;
            databases: string[];
            name: string;
            read: boolean;
            write: boolean;
        };
        History: {
            /** @description Times in milliseconds since 1970 */
            at: number[];
            series: {
                [key: string]: (number | null)[];
            };
            step_s: number;
        };
        KeptDefinition: {
            changed: string;
            latest: number;
            model: string;
            name: string;
            versions: number;
        };
        Leverage: {
            /** @description Movement that chance alone exceeds in no event, with 95% confidence */
            chance: number;
            /** @description Events compared */
            compared: number;
            events: {
                entity: string | null;
                /** @description A condition about the entity, such as `wins > 9` */
                event: string;
                /** @description The same with the entity */
                leg: string | null;
                /** @description 2 p (1 - p) |swing|, where p is the share of worlds with the event */
                movement: number;
                /** @description `with` minus `without` */
                swing: number;
                title: string;
                /** @description The probability in worlds with the event */
                with: number;
                /** @description The probability in the other worlds */
                without: number;
                /** @description Worlds with the event */
                worlds: number;
            }[];
            /** @description Numbers not examined, because the ensemble has too many */
            left_out: number;
            probability: number;
            worlds: number;
        };
        LeverageQuestion: {
            condition: string;
            ensemble: string;
            /** @description None for all */
            entities?: string[];
            entity?: string;
            given?: string[];
            /** @default 50 */
            limit: number;
            /** @default 100 */
            min_worlds: number;
            /** @description Names of outcomes, and expressions; none for all flags and labelled codes, and for as many numbers as the ensemble's size allows */
            outcomes?: string[];
        };
        Log: {
            bytes: number;
            first: number;
            next: number;
            rows: number;
            table: string;
        };
        Model: {
            definition: {
                doc: string;
                name: string;
                parts: string[];
                required: boolean;
            } | null;
            model: string;
            parameters: {
                default: string | number | string[] | number[];
                doc: string;
                items_max?: number;
                /** @enum {string} */
                kind: "number" | "text" | "numbers" | "texts";
                max?: number | null;
                min?: number | null;
                name: string;
                words?: string[];
            }[];
            summary: string;
        };
        Outcome: {
            cdf?: {
                probability: number;
                value: number | ("NaN" | "Infinity" | "-Infinity");
            }[];
            /** @description The 95% confidence interval: both ends */
            ci: (number | ("NaN" | "Infinity" | "-Infinity"))[] | null;
            entity: string | null;
            histogram: {
                from: number | ("NaN" | "Infinity" | "-Infinity");
                to: number | ("NaN" | "Infinity" | "-Infinity");
                worlds: number;
            }[];
            labels?: {
                code: number;
                label: string;
                share: number;
                worlds: number;
            }[];
            max: number | ("NaN" | "Infinity" | "-Infinity");
            mean: number | ("NaN" | "Infinity" | "-Infinity");
            min: number | ("NaN" | "Infinity" | "-Infinity");
            outcome: string;
            quantiles: {
                [key: string]: number | ("NaN" | "Infinity" | "-Infinity");
            };
            standard_deviation: number | ("NaN" | "Infinity" | "-Infinity");
            unit: string;
            worlds: number;
        };
        OutcomeQuestion: {
            /** @default 20 */
            bins: number;
            cdf?: boolean;
            ensemble: string;
            entities?: string[];
            /** @description Names of outcomes, or expressions such as `wins - losses` */
            outcomes: string[];
            /**
             * @default [
             *       0.01,
             *       0.05,
             *       0.25,
             *       0.5,
             *       0.75,
             *       0.95,
             *       0.99
             *     ]
             */
            quantiles: number[];
        };
        Price: {
            /** @description The 95% confidence interval: both ends */
            ci: number[] | null;
            fair_odds: number | null;
            hits: number;
            independent: number;
            legs: {
                leg: string;
                probability: number;
            }[];
            probability: number;
            standard_error: number;
            worlds: number;
        };
        PriceQuestion: {
            ensemble: string;
            entity?: string;
            given?: string[];
            legs: string[];
            /** @default 100 */
            min_worlds: number;
        };
        Run: {
            /** @enum {string} */
            by: "process" | "fleet" | "elsewhere";
            can: ("pause" | "resume" | "cancel" | "retry")[];
            ensemble: string;
            error: string | null;
            left_s: number | null;
            model: string;
            started: string;
            /** @enum {string} */
            state: "starting" | "queued" | "running" | "pausing" | "paused" | "failed" | "cancelled" | "complete" | "enough";
            version: number | null;
            workers?: components["schemas"]["Worker"][];
            worlds: number;
            worlds_done: number;
            worlds_per_s: number;
            worlds_stored: number;
        };
        Session: {
            admin: boolean;
            databases: string[] | null;
            fleet: boolean;
            name: string | null;
            read: boolean;
            /** @description Whether the server asks for tokens */
            tokens: boolean;
            version: string;
            write: boolean;
        };
        Setting: {
            name: string;
            secret: boolean;
            source: string;
            value: string | null;
        };
        Status: {
            fleet_error: string | null;
            runs: components["schemas"]["Run"][];
            workers: components["schemas"]["Worker"][];
        };
        Summary: {
            entity: string;
            /** @description Why the tables are not the model's */
            note?: string;
            outcomes: {
                [key: string]: number | ("NaN" | "Infinity" | "-Infinity");
            };
            tables: {
                columns: string[];
                name: string;
                rows: (number | string | null)[][];
            }[];
            title: string;
        };
        Table: {
            /** @description Rows since the server's start */
            acknowledged: number;
            bytes: number;
            database: string;
            name: string;
            newest: string | null;
            rows: number;
            segments: number;
            table: string;
            /** @description Why the table cannot be read */
            trouble: string | null;
        };
        TableDetails: {
            acknowledged: number;
            bytes: number;
            columns: {
                name: string;
                nullable: boolean;
                type: string;
            }[];
            database: string;
            layout: string;
            name: string;
            newest: string | null;
            rows: number;
            rows_in_log: number;
            segments: number;
            table: string;
        };
        Verification: {
            checks: {
                detail: string;
                name: string;
                ok: boolean | null;
            }[];
            event_hash: string | null;
            hash: string;
            ok: boolean;
        };
        Wish: {
            /** @description A text, or a kept definition */
            definition?: string | {
                name: string;
                version?: number;
            };
            /**
             * @default store
             * @enum {string}
             */
            events: "store" | "compact" | "replay";
            /** @description Add worlds to a complete ensemble of this name */
            extend?: boolean;
            model: string;
            /** @description The name of the ensemble. Default: that of the model */
            name?: string;
            /** @description Values of parameters; others have their defaults */
            parameters?: {
                [key: string]: unknown;
            };
            /** @description Replace an ensemble of this name */
            replace?: boolean;
            /** @default 1 */
            seed: number | string;
            /** @description Threads. Default: one per processor */
            threads?: number;
            /** @description Stop once the mean of the outcome, as ENTITY:OUTCOME, is this precise: `0.5%`, or a number in its unit */
            until?: {
                goal: string | number;
                outcome: string;
            };
            /** @description Worlds to play; with `extend`, worlds after the extension */
            worlds: number;
        };
        Worker: {
            host: string;
            id: string;
            is_there: boolean;
            pid: number;
            threads: number;
            trouble: string | null;
            worlds_done: number;
            worlds_per_s: number;
        };
        WorldsQuestion: {
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
                format?: "json" | "csv" | "arrow" | "parquet";
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
                    "application/vnd.apache.parquet": unknown;
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
    post_api_v1_cancel: {
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
            /** @description The run */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
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
            /** @description Not possible in the current state */
            409: {
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
                    "application/json": components["schemas"]["Description"];
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
    post_api_v1_check: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    definition: string;
                    model: string;
                };
            };
        };
        responses: {
            /** @description The faults, with lines where the text allows it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Checked"];
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
                    "application/json": components["schemas"]["Comparison"][];
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
                    "application/json": components["schemas"]["Correlations"];
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
    get_api_v1_definition: {
        parameters: {
            query: {
                /** @description The definition */
                name: string;
                /** @description The version. Default: the newest */
                version?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The definition */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Definition"];
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
    post_api_v1_definition: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    model: string;
                    name: string;
                    text: string;
                };
            };
        };
        responses: {
            /** @description The version; the newest if its text is the same */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        version: number;
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
            /** @description Not possible in the current state */
            409: {
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
    get_api_v1_definitions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The definitions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeptDefinition"][];
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
                    "application/json": components["schemas"]["Ensemble"][];
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
    post_api_v1_events: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EventsQuestion"];
            };
        };
        responses: {
            /** @description The events, one row each */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Events"];
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
    get_api_v1_history: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A value every 10 seconds */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["History"];
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
    post_api_v1_leverage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LeverageQuestion"];
            };
        };
        responses: {
            /** @description The events, those that move it most first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Leverage"];
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
    post_api_v1_login: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    token: string;
                };
            };
        };
        responses: {
            /** @description The token's permissions, and the cookie */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
    post_api_v1_logout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
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
        };
    };
    get_api_v1_logs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Their size, and the positions that are in no segment */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Log"][];
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
    get_api_v1_models: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The models that can be played */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Model"][];
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
                "application/json": components["schemas"]["OutcomeQuestion"];
            };
        };
        responses: {
            /** @description The distributions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Outcome"][];
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
    post_api_v1_pause: {
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
            /** @description The run */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
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
            /** @description Not possible in the current state */
            409: {
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
    post_api_v1_price: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PriceQuestion"];
            };
        };
        responses: {
            /** @description The probability, its interval, and that of each condition alone */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Price"];
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
    post_api_v1_resume: {
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
            /** @description The run */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
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
            /** @description Not possible in the current state */
            409: {
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
    post_api_v1_retry: {
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
            /** @description The run */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
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
            /** @description Not possible in the current state */
            409: {
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
    post_api_v1_run: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Wish"];
            };
        };
        responses: {
            /** @description It is registered, and plays or waits */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
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
            /** @description Not possible in the current state */
            409: {
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
    get_api_v1_session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The permissions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
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
    get_api_v1_settings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The settings */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Setting"][];
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
    post_api_v1_sql: {
        parameters: {
            query?: {
                /** @description Format of the answer. Default: the header `accept` */
                format?: "json" | "csv" | "arrow" | "parquet";
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
                    "application/vnd.apache.parquet": unknown;
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
    get_api_v1_status: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The runs and the workers of the fleet */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Status"];
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
    get_api_v1_status_stream: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events: `status` with the answer of `/api/v1/status`, at once and whenever it changes; `ensembles` when the list of ensembles has changed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": unknown;
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
    post_api_v1_submit: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Wish"];
            };
        };
        responses: {
            /** @description It is submitted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
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
            /** @description Not possible in the current state */
            409: {
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
    post_api_v1_summary: {
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
                    world: number;
                };
            };
        };
        responses: {
            /** @description The tables, and every outcome of the entity */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Summary"];
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
    get_api_v1_table: {
        parameters: {
            query: {
                /** @description The table, as NAME or DATABASE.NAME */
                table: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Its columns and its size */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TableDetails"];
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
    get_api_v1_tables: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tables that the token may read */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Table"][];
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
    get_api_v1_tokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Their permissions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Grant"][];
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
            /** @description Not possible in the current state */
            409: {
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
    post_api_v1_tokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    admin?: boolean;
                    databases?: string[];
                    name: string;
                    read?: boolean;
                    write?: boolean;
                };
            };
        };
        responses: {
            /** @description The token, which is shown only once */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        token: string;
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
            /** @description Not possible in the current state */
            409: {
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
    delete_api_v1_tokens: {
        parameters: {
            query: {
                /** @description The token's name */
                name: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is revoked */
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
            /** @description The ensemble or table does not exist */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in the current state */
            409: {
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
                    "application/json": components["schemas"]["Verification"];
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
    post_api_v1_worlds: {
        parameters: {
            query?: {
                /** @description Format of the answer. Default: the header `accept` */
                format?: "arrow" | "csv" | "parquet";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorldsQuestion"];
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
                    "application/vnd.apache.parquet": unknown;
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
            /** @description Memory is full or the disk too slow; nothing was done: retry later */
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
