import { writeFileSync } from "node:fs";
import { certificates } from "@bridge/tooling/certificates";
import * as v from "valibot";
import { afterAll, describe, expect, test } from "vitest";
import { clientTlsSchema, readClientTls } from "../../src/broker/client-tls.ts";

test("files are read, and brokers have to prove who they are", async () => {
  using files = certificates("client");
  const tls = v.parse(clientTlsSchema, {
    ca_file: files.path("ca.crt"),
    cert_file: files.path("client.crt"),
    key_file: files.path("client.key"),
  });
  expect(await readClientTls(tls)).toEqual({
    rejectUnauthorized: true,
    ca: files.files["ca.crt"],
    cert: files.files["client.crt"],
    key: files.files["client.key"],
  });
  expect(await readClientTls(undefined)).toEqual({ rejectUnauthorized: true });
});

describe("a file that cannot be used is named, with its option and the remedy", () => {
  const files = certificates("client", "other");
  afterAll(() => files[Symbol.dispose]());
  const good = { ca_file: "ca.crt", cert_file: "client.crt", key_file: "client.key" };
  const spoiled = (name: string, content: string): string => {
    writeFileSync(files.path(name), content);
    return name;
  };

  test.for([
    ["ca_file", "nowhere", /cannot be read: ENOENT/],
    ["ca_file", ".", /cannot be read: it is no file/],
    [
      "ca_file",
      spoiled("empty", ""),
      /holds no certificate in PEM form: name a file with the certificates of the authorities/,
    ],
    ["ca_file", spoiled("large", "x".repeat(1_048_577)), /cannot be read: it has more than 1048576 bytes/],
    ["cert_file", "client.key", /holds no certificate in PEM form: name a file with the certificate, followed by/],
    ["key_file", "client.crt", /holds no private key in PEM form: name a file with the private key/],
    [
      "key_file",
      "other.key",
      /does not belong to the certificate in ".*client\.crt": name a certificate and its own key/,
    ],
  ] as const)("%s: %s", async ([option, name, why]) => {
    const paths = Object.entries({ ...good, [option]: name }).map(([each, file]) => [each, files.path(file)]);
    const error: unknown = await readClientTls(v.parse(clientTlsSchema, Object.fromEntries(paths))).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: "UNAVAILABLE", message: expect.stringMatching(why) as string });
    expect((error as Error).message).toContain(`tls.${option} "${files.path(name)}" `);
  });
});

test("a certificate without its key is refused", () => {
  const { issues = [] } = v.safeParse(clientTlsSchema, { cert_file: "c.pem" });
  expect(issues.map(({ message }) => message)).toEqual(["goes with key_file: set both or none"]);
});
