import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { authority } from "@bridge/tooling/certificates";
import { rows } from "@bridge/tooling/long";
import { INSIDE } from "./support/documents.ts";
import { Folder } from "./support/folder.ts";

/** What may stand where a file is named, and what a start says of it. */
const THINGS: Readonly<Record<string, (path: string, folder: Folder) => void>> = {
  "a pipe": (path) => void execFileSync("sh", ["-c", `mkfifo "$0"`, path]),
  "a device": (path) => symlinkSync("/dev/zero", path),
  "a folder": (path) => mkdirSync(path),
  "a file of 1 GiB": (path, folder) => {
    folder.write("thing", "");
    truncateSync(path, 2 ** 30);
  },
};

/** The document in which `thing` is the file that is meant; `undefined` when it is the document itself. */
const PLACES: Readonly<Record<string, string | undefined>> = {
  "the document": undefined,
  "a reference": INSIDE.replace("bridge: {id: test}", 'bridge: {id: "${file:thing}"}'),
  "the servers' certificate": INSIDE.replace("http: {", "http: {tls_cert_file: thing, tls_key_file: tls.key, "),
  "the servers' key": INSIDE.replace("http: {", "http: {tls_cert_file: tls.crt, tls_key_file: thing, "),
  "a receiver's authorities": INSIDE.replace(
    "{id: in, transport: memory, options: {channel: in}}",
    '{id: in, transport: http, options: {addr: "127.0.0.1:0", tls: {cert_file: tls.crt, key_file: tls.key, client_ca_file: thing}}}',
  ),
  "a schema": `${INSIDE.replace("bindings: [to-out],", "bindings: [to-out], processors: [shape],")}processors: [{id: shape, type: schema, options: {file: thing}}]\n`,
};

test.each(Object.entries(PLACES))(
  "what is no file of a bounded size in the place of %s ends the start at once, and is named",
  async (_, document) => {
    const { cert, key } = authority().issue("localhost", ["localhost"]);
    for (const [name, make] of rows(Object.entries(THINGS), ([thing]) => thing === "a pipe")) {
      using folder = new Folder();
      folder.write("tls.crt", cert);
      folder.write("tls.key", key);
      make(join(folder.path, "thing"), folder);
      if (document !== undefined) folder.write("bridge.yaml", document);
      await using bridge = folder.run(["-config", document === undefined ? "thing" : "bridge.yaml"]);
      expect({ name, code: await bridge.ended }).toEqual({ name, code: 1 });
      expect(bridge.stderr).toMatch(/it is (no|not a regular) file|it has more than \d+ bytes/);
    }
  },
  60_000,
);
