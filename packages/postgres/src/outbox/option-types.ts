/**
 * What programs may write, and what each key means: made from the schemas that check it. Not edited by hand. @module
 */

/** Options of the outbox store `postgres`. */
export interface PostgresOutboxStoreOptions {
  /** The server and the database, such as "postgresql://bridge@host:5432/plant?sslmode=verify-full"; never shown, as it may hold a password. Default: `host` and the options after it. */
  readonly url?: string | undefined;
  /** The server, or the folder of its socket. Default: `PGHOST`, else `localhost`. */
  readonly host?: string | undefined;
  /** Default: `PGPORT`, else 5432. */
  readonly port?: number | undefined;
  /** Default: `PGDATABASE`, else the name of the user. */
  readonly database?: string | undefined;
  /** Default: `PGUSER`, else the user that the bridge runs as. */
  readonly user?: string | undefined;
  /** The password of the user. Default: that of the `url`, else `PGPASSWORD`. */
  readonly password?: string | undefined;
  /** Connects with TLS. Default: as `sslmode` of the `url` or `PGSSLMODE` says, else without. */
  readonly tls?: {
    /** PEM file of the authorities to trust instead of the system's. */
    readonly ca_file?: string | undefined;
    /** PEM file of the bridge's own certificate. */
    readonly cert_file?: string | undefined;
    /** PEM file of the key to `cert_file`. */
    readonly key_file?: string | undefined;
    /** Whether the server must prove who it is. `false` is for tests only. Default: true. */
    readonly reject_unauthorized?: boolean | undefined;
  } | undefined;
  /** The schema with the tables, created by `bridge -create-tables`. One for each bridge: its instances share it. Default: bridge. */
  readonly schema?: string | undefined;
  /** The most connections that this store opens at this instance. Further calls wait for their turn. Default: 5. */
  readonly pool_size?: number | undefined;
  /** How long finished records are kept, so that duplicates are recognized. Default: 1h. */
  readonly retention?: string | undefined;
}
