import { type ClientTls, clientTlsSchema } from "@bridge/ports/internal";
import { describe, integer, secret, text } from "@bridge/ports/options";
import * as v from "valibot";
import { ONE_SERVER, serverUrlProblem } from "./server-url.ts";

/** Where a store of PostgreSQL is and how it is reached: what the configuration says under `options`. */
export interface ConnectionOptions {
  readonly url?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly database?: string | undefined;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly tls?: ClientTls | undefined;
  readonly schema: string;
  readonly pool_size: number;
}

/** What a document may say of it: everything has a default. */
type ConnectionInput = { readonly [Option in keyof ConnectionOptions]?: ConnectionOptions[Option] | undefined };

/** Written out, because compilers that read declarations cannot follow what is inferred of a spread. */
export type OptionsSchema<Entries extends v.ObjectEntries> = v.GenericSchema<
  ConnectionInput & v.InferInput<v.StrictObjectSchema<Entries, undefined>>,
  ConnectionOptions & v.InferOutput<v.StrictObjectSchema<Entries, undefined>>
>;

const MAX_NAME_BYTES = 63;

const serverUrl = v.pipe(
  secret(),
  v.metadata({ pattern: "^\\s*[Pp][Oo][Ss][Tt][Gg][Rr][Ee][Ss](?:[Qq][Ll])?:[^#]*#?\\s*$" }),
  v.rawCheck(({ dataset, addIssue }) => {
    const problem = dataset.typed ? serverUrlProblem(dataset.value) : undefined;
    if (problem !== undefined) addIssue({ message: problem });
  }),
);

const schemaName = v.pipe(
  v.string("expected a string"),
  v.regex(
    /^(?!pg_)[a-z_][a-z0-9_]*$/,
    'the name of a schema has small letters, digits and "_", and begins with no digit and not with "pg_"',
  ),
  v.maxLength(MAX_NAME_BYTES, `at most ${MAX_NAME_BYTES} characters`),
);

const connection = {
  url: describe(
    v.optional(serverUrl),
    'The server and the database, such as "postgresql://bridge@host:5432/plant?sslmode=verify-full"; never shown, as it may hold a password. Default: `host` and the options after it.',
  ),
  host: describe(
    v.optional(v.pipe(text(), v.regex(/^[^,]*$/, ONE_SERVER))),
    "The server, or the folder of its socket. Default: `PGHOST`, else `localhost`.",
  ),
  port: describe(v.optional(integer(1, 65_535)), "Default: `PGPORT`, else 5432."),
  database: describe(v.optional(text()), "Default: `PGDATABASE`, else the name of the user."),
  user: describe(v.optional(text()), "Default: `PGUSER`, else the user that the bridge runs as."),
  password: describe(v.optional(secret()), "The password of the user. Default: that of the `url`, else `PGPASSWORD`."),
  tls: describe(
    v.optional(clientTlsSchema),
    "Connects with TLS. Default: as `sslmode` of the `url` or `PGSSLMODE` says, else without.",
  ),
  schema: describe(
    v.optional(schemaName, "bridge"),
    "The schema with the tables, created by `bridge -create-tables`. One for each bridge: its instances share it.",
  ),
  pool_size: describe(
    v.optional(integer(1, 100), 5),
    "The most connections that this store opens at this instance. Further calls wait for their turn.",
  ),
};

/** The options of a store: where the server is, and `entries` of its own. */
export function postgresOptions<const Entries extends v.ObjectEntries>(entries: Entries): OptionsSchema<Entries> {
  const options = v.pipe(
    v.strictObject({ ...connection, ...entries }),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const { url, ...rest } = dataset.value as unknown as ConnectionOptions;
      const twice = (["host", "port", "database", "user"] as const).filter((name) => rest[name] !== undefined);
      if (url === undefined || twice.length === 0) return;
      addIssue({ message: `${twice.join(", ")}: the url says that already; remove one of the two` });
    }),
    v.metadata({
      dependencies: {
        url: { not: { anyOf: ["host", "port", "database", "user"].map((name) => ({ required: [name] })) } },
      },
    }),
  );
  return options as unknown as OptionsSchema<Entries>;
}
