import { RUDE_NAMES } from "@bridge/tooling/rude-names";
import { expect, test } from "vitest";
import { ADMIN_KEY } from "./support/folder.ts";
import { Stage } from "./support/stage.ts";

/** Unquoted where YAML takes a name for a text. */
const QUOTED = /^(?:[\d.]+|1e3|0x1|null|true|2026-01-01)$/;
const written = (name: string): string => (QUOTED.test(name) ? `"${name}"` : name);
const each = (line: (name: string) => string): string =>
  RUDE_NAMES.map((name) => `  - {${line(written(name))}}\n`).join("");

/** One of each kind for each name. */
const document = `
bridge: {id: __proto__}
http: {admin_addr: "127.0.0.1:0", monitor_addr: "127.0.0.1:0", admin_api_key: ${ADMIN_KEY}}
stores: {outbox: {type: memory, options: {acknowledge_volatile: true}}}
sessions:
${each((name) => `id: ${name}, transport: memory`)}receivers:
${each((name) => `id: ${name}, transport: memory, session_id: ${name}, options: {channel: in.${name.replaceAll('"', "")}}`)}senders:
${each((name) => `id: ${name}, transport: memory, session_id: ${name}`)}bindings:
${each((name) => `id: ${name}, sender_id: ${name}, session_id: ${name}, address: out.${name.replaceAll('"', "")}`)}processors:
${each((name) => `id: ${name}, type: filter, options: {drop: {field: header.${name.replaceAll('"', "")}, op: eq, value: drop}}`)}routes:
${each(
  (name) =>
    `id: ${name}, receiver_id: ${name}, bindings: [${name}], processors: [${name}], delivery_mode: shared_outbox, policy: {on_permanent_failure: drop, on_expired: drop}`,
)}`;

test("every name that an id may be names parts in a file, on the admin server and in a change of the configuration", async () => {
  await using stage = await Stage.run(document);
  const inject = async (route: string, value: string) =>
    stage.admin("POST", `/routes/${encodeURIComponent(route)}/inject`, {
      subject: "s",
      payload: "aGk=",
      // A computed name, because a literal `__proto__` would be no header.
      headers: { [route]: value },
    });
  const works = async (): Promise<void> => {
    for (const name of RUDE_NAMES) {
      expect([name, await inject(name, "keep")]).toMatchObject([name, { status: 200, body: { status: "injected" } }]);
      expect([name, await inject(name, "drop")]).toMatchObject([name, { status: 422 }]);
    }
  };
  await works();
  await stage.commit({ routes: RUDE_NAMES.map((id) => ({ id, policy: { max_in_flight: 7 } })) });
  const { body } = await stage.admin("GET", "/routes");
  const routes = (body as { readonly routes: readonly object[] }).routes;
  expect(routes).toMatchObject(RUDE_NAMES.map((id) => ({ id, max_in_flight: 7 })));
  await stage.restart();
  await works();
});
