/**
 * Of undici what sends, and no more: its index loads fetch, WebSocket, caches and mocks too, which is 12 MB and 100 ms in
 * each process that knows HTTP, whether it sends or not. @module
 */
import type { buildConnector as BuildConnector, Pool as PoolOf } from "undici";
// @ts-expect-error: the library has types for its index alone.
import connect from "undici/lib/core/connect.js";
// @ts-expect-error: the library has types for its index alone.
import pool from "undici/lib/dispatcher/pool.js";

export const buildConnector: typeof BuildConnector = connect as typeof BuildConnector;
export const Pool: typeof PoolOf = pool as typeof PoolOf;
