import { certificates } from "@bridge/tooling/certificates";
import * as v from "valibot";
import { expect, test } from "vitest";
import { clientTlsSchema, readClientTls } from "../src/index.ts";

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

test("a file that cannot be read is named, with its option", async () => {
  const tls = v.parse(clientTlsSchema, { ca_file: "/nowhere/ca.pem" });
  await expect(readClientTls(tls)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: 'tls.ca_file "/nowhere/ca.pem" cannot be read: ENOENT',
  });
});

test("a certificate without its key is refused", () => {
  const { issues = [] } = v.safeParse(clientTlsSchema, { cert_file: "c.pem" });
  expect(issues.map(({ message }) => message)).toEqual(["goes with key_file: set both or none"]);
});
