import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { authority } from "@bridge/tooling/certificates";
import { noPostgresCluster, PostgresCluster } from "@bridge/tooling/postgres-cluster";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { INSIDE } from "./support/documents.ts";
import { Stage } from "./support/stage.ts";

/** Messages are refused, so that the DLQ is written. */
const LOSSLESS = ", policy: {on_permanent_failure: drop, on_expired: drop}";

describe.skipIf(noPostgresCluster)("a store on PostgreSQL with TLS (needs its programs)", () => {
  const issuer = authority();
  let cluster: PostgresCluster;
  let stage: Stage;
  let ca: string;

  const document = (caFile: string): string =>
    `stores: {dlq: {type: postgres, options: {url: "postgresql://postgres@localhost:${cluster.port}/postgres", tls: {ca_file: "${caFile}"}}}}\n` +
    INSIDE.replace(LOSSLESS, "");

  beforeAll(async () => {
    cluster = await PostgresCluster.start();
    await cluster.present(issuer.issue("postgres", ["localhost"]));
    stage = await Stage.run(INSIDE);
    ca = stage.folder.write("ca.crt", issuer.cert);
    stage.folder.write("tables.yaml", document(ca));
    await using maker = stage.folder.run(["-create-tables", "-config", "tables.yaml"]);
    if ((await maker.ended) !== 0) throw new Error(maker.stderr);
    stage.folder.write("bridge.yaml", document(ca));
    await stage.health(({ config_watch: { last_reload_at } }) => last_reload_at !== undefined);
  }, 120_000);
  afterAll(async () => {
    await stage[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  const dlq = (wanted: (store: Store) => boolean) =>
    stage.health((health) => (health as unknown as { readonly stores: readonly Store[] }).stores.some(wanted));

  test.for([
    ["is not there", undefined, /cannot be read: ENOENT/],
    ["is empty", "", /holds no certificate in PEM form: name a file with the certificates of the authorities/],
    ["is damaged", issuer.cert.slice(0, 200), /holds a damaged certificate, the 1\. of 1/],
  ] as const)(
    "a change that names an authority which %s is refused, and what ran goes on",
    async ([name, content, why]) => {
      const bad = join(stage.folder.path, `${name}.crt`);
      if (content !== undefined) writeFileSync(bad, content);
      stage.folder.write("bridge.yaml", document(bad));
      const { config_watch } = await stage.health(
        ({ config_watch: { last_error } }) => last_error?.includes(bad) === true,
      );
      expect(config_watch.last_error).toMatch(new RegExp(`tls\\.ca_file "${bad}" ${why.source}`));
      expect(stage.bridge.stderr).not.toContain("beyond recovery");
      expect((await dlq(({ state }) => state === "up")).ready_for_traffic).toBe(true);
      expect(await stage.admin("GET", "/dlq")).toMatchObject({ status: 200 });
    },
  );

  test("whose authority is spoiled while it runs goes on, over a change of something else, too; told when it connects, and mended by the file", async () => {
    stage.folder.write("bridge.yaml", document(ca));
    await stage.health(({ config_watch: { last_error } }) => last_error === undefined);
    writeFileSync(ca, "-----BEGIN");
    const changed = await stage.commit({ routes: [{ id: "only", policy: { max_in_flight: 7 } }] });
    expect(changed).toMatchObject({ status: 200 });
    await cluster.stop("fast");
    await cluster.restart();
    await dlq(({ fault = "" }) => fault.includes(`tls.ca_file "${ca}" holds no certificate in PEM form`));
    writeFileSync(ca, issuer.cert);
    await dlq(({ state }) => state === "up");
    expect(await stage.admin("GET", "/dlq")).toMatchObject({ status: 200 });
  });
});

interface Store {
  readonly state: string;
  readonly fault?: string;
}
