import { randomInt, randomUUID } from "node:crypto";
import { LONG, rows } from "@bridge/tooling/long";
import { testSchema } from "@bridge/tooling/test-postgres";
import { expect, test } from "vitest";
import { jetstream } from "./support/jetstream.ts";
import { Folder, HTTP } from "./support/folder.ts";
import { fillLetters, lettersInFile, lettersInPostgres, markedBy } from "./support/letters.ts";
import { Shop } from "./support/shop.ts";
import { Stage } from "./support/stage.ts";
import { AT_ONCE, begun, reaches } from "./support/told-jobs.ts";
import { until } from "./support/until.ts";

const KILLS = LONG ? 100 : 3;
const ENTRIES = LONG ? 20_000 : 600;
const CONCURRENCY = 8;
/** So that the job lasts as long as there are kills. */
const RATE = LONG ? 400 : 150;
const IN_FLIGHT = 16;

const ROWS = [
  { store: "file", to: "a web service", mode: "direct_hold" },
  { store: "postgres", to: "a web service", mode: "direct_hold" },
  { store: "file", to: "a web service", mode: "shared_outbox" },
  { store: "postgres", to: "a web service", mode: "shared_outbox" },
  { store: "file", to: "JetStream", mode: "direct_hold" },
] as const;

type Row = (typeof ROWS)[number];

function documentOf({ store, to, mode }: Row, parts: { dlq: string; outbox: string; target: string }): string {
  const isStream = to === "JetStream";
  const sessions = isStream
    ? `sessions: [{id: nats, transport: nats, options: {servers: ["nats://127.0.0.1:4222"]}}]\n`
    : "";
  const sender = isStream
    ? "senders: [{id: out, transport: nats}]"
    : `senders: [{id: out, transport: http, options: {url: "${parts.target}"}}]`;
  const binding = isStream
    ? `bindings: [{id: to-out, sender_id: out, session_id: nats, address: "${parts.target}.{$subject}"}]`
    : "bindings: [{id: to-out, sender_id: out}]";
  return `${HTTP}
bridge: {id: killed-jobs, instance_id: one, lease_ttl: 3s${store === "postgres" ? ", deployment_mode: clustered" : ""}}
stores: {dlq: ${parts.dlq}${mode === "shared_outbox" ? `, outbox: ${parts.outbox}` : ""}}
${sessions}receivers: [{id: in, transport: http, options: {addr: "127.0.0.1:0", allow_anonymous: true}}]
${sender}
${binding}
routes: [{id: only, receiver_id: in, delivery_mode: ${mode}, bindings: [to-out], policy: {max_replay_attempts: 1, max_in_flight: ${IN_FLIGHT}, send_timeout: 1s}}]
`;
}

test.each(
  rows(ROWS, ({ store, mode, to }) => to === "JetStream" || (store === "postgres" && mode === "shared_outbox")),
)(
  `operators 3.5.2: ${ENTRIES} entries in $store to $to, $mode, killed at random ${KILLS} times: every entry is there, and what came twice was in doubt`,
  { timeout: 3_600_000 },
  async (row) => {
    const folder = new Folder();
    await using schema = await testSchema();
    await using shop = await Shop.open();
    await using stream = row.to === "JetStream" ? await jetstream(`JOBS_${randomUUID().slice(0, 8)}`) : undefined;
    const letters = row.store === "file" ? lettersInFile(`${folder.path}/dlq.db`) : lettersInPostgres(schema);
    const document = documentOf(row, {
      dlq: letters.block,
      outbox: row.store === "file" ? `{type: file, options: {path: "${folder.path}/outbox.db"}}` : letters.block,
      target: stream?.subject ?? shop.url,
    });
    if (row.store === "postgres") {
      await using maker = folder.run(["-create-tables", "-config", folder.write("bridge.yaml", document)]);
      expect(await maker.ended).toBe(0);
    }
    const ids = await fillLetters(letters, ENTRIES);
    const refused = (id: string): boolean => stream === undefined && Number(id.slice(1)) % 10 === 0;
    shop.refuses = refused;
    await using stage = await Stage.run(document, {}, folder);
    const ask = stage.admin.bind(stage);
    const job = await begun(ask, { ...AT_ONCE, rate: RATE, concurrency: CONCURRENCY });
    const arrived = async (): Promise<number> => stream?.count() ?? shop.accepted.size;

    const moments = Array.from({ length: KILLS }, () => randomInt(1, Math.floor(ENTRIES * 0.85))).toSorted(
      (a, b) => a - b,
    );
    let [seen, most] = [0, 0];
    /** Of the process that runs: what was marked before it began, and what had come by then. */
    let life = { marked: new Set<string>() as ReadonlySet<string>, asked: 0, repeats: 0 };
    const endLife = (): void => {
      for (const id of shop.refused.slice(life.asked)) expect(life.marked).not.toContain(id);
      most = Math.max(most, repeatsAt(shop) - life.repeats);
    };
    for (const moment of moments) {
      await until(
        `${moment} arrived`,
        async () => (seen = await arrived()) >= moment,
        () => seen,
      );
      stage.bridge.kill("SIGKILL");
      await stage.bridge.ended;
      endLife();
      life = { marked: await markedBy(letters, job.id), asked: shop.refused.length, repeats: repeatsAt(shop) };
      await stage.restart();
    }
    const done = await reaches(ask, job, "completed");
    endLife();

    expect(done.progress).toMatchObject({ total: ENTRIES, done: ENTRIES, remaining: 0 });
    const left = await stage.admin("GET", "/dlq/summary");
    if (stream !== undefined) {
      // Its window knows them again: each is there, and none twice.
      expect(await stream.subjects()).toEqual({ messages: ENTRIES, subjects: ENTRIES });
      expect(left).toMatchObject({ body: { total: 0 } });
      return;
    }
    const accepted = ids.filter((id) => !refused(id));
    expect(new Set(shop.accepted.keys())).toEqual(new Set(accepted));
    expect(done.progress.failed).toBe(ENTRIES - accepted.length);
    expect(left).toMatchObject({ body: { total: ENTRIES - accepted.length } });
    // What came twice came under one id: in an outbox there was no second record.
    for (const each of shop.repeated) expect(new Set(each).size).toBe(1);
    const repeats = repeatsAt(shop);
    expect(most).toBeLessThanOrEqual(row.mode === "direct_hold" ? CONCURRENCY : IN_FLIGHT);
    if (row.mode === "direct_hold") expect(done.progress.in_doubt).toBeGreaterThanOrEqual(repeats);
    console.log(
      `${row.store}, ${row.mode}: ${repeats} came twice over ${KILLS} kills, at most ${most} after one; ${done.progress.in_doubt} in doubt`,
    );
  },
);

function repeatsAt(shop: Shop): number {
  const accepted = shop.repeated.reduce((sum, ids) => sum + ids.length - 1, 0);
  return accepted + shop.refused.length - new Set(shop.refused).size;
}
