/** What is used of a package that brings no types. */
declare module "dynalite" {
  import type { Server } from "node:http";

  interface DynaliteOptions {
    readonly createTableMs?: number;
    readonly deleteTableMs?: number;
    readonly updateTableMs?: number;
    /** A folder. Default: kept in memory. */
    readonly path?: string;
  }

  export default function dynalite(options?: DynaliteOptions): Server;
}
