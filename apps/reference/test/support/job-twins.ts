import type { TestSchema } from "@bridge/tooling/test-postgres";
import { expect } from "vitest";
import { ask as askAt, eventually, type Told } from "./ask.ts";
import type { Binary } from "./binary.ts";
import { ADMIN_KEY, Folder, HTTP } from "./folder.ts";
import { fillLetters, lettersInPostgres } from "./letters.ts";
import { Shop } from "./shop.ts";
import { AT_ONCE, begun, type JobBody, jobNow, reaches } from "./told-jobs.ts";
import { until } from "./until.ts";

export const TTL_MS = 3_000;
export const ENTRIES = 240;
export const CONCURRENCY = 4;

type Name = "one" | "other";

/** Two processes of one bridge on one PostgreSQL, whose requests come at paths of their own. */
export class JobTwins implements AsyncDisposable {
  readonly shop: Shop;
  readonly ids: readonly string[];
  readonly #processes: Readonly<Record<Name, Binary>>;
  readonly #folder: Folder;

  private constructor(parts: { shop: Shop; ids: readonly string[]; processes: JobTwins["run"]; folder: Folder }) {
    ({ shop: this.shop, ids: this.ids, processes: this.#processes, folder: this.#folder } = parts);
  }

  get run(): Readonly<Record<Name, Binary>> {
    return this.#processes;
  }

  static async open(schema: TestSchema): Promise<JobTwins> {
    const [folder, shop] = [new Folder(), await Shop.open()];
    const letters = lettersInPostgres(schema);
    const document = (name: Name): string =>
      folder.write(
        `${name}.yaml`,
        `${HTTP}
bridge: {id: twins, instance_id: ${name}, deployment_mode: clustered, lease_ttl: ${TTL_MS}ms}
stores: {dlq: ${letters.block}}
receivers: [{id: in, transport: http, options: {addr: "127.0.0.1:0", allow_anonymous: true}}]
senders: [{id: out, transport: http, options: {url: "${shop.url}/${name}"}}]
bindings: [{id: to-out, sender_id: out}]
routes: [{id: only, receiver_id: in, bindings: [to-out], policy: {max_replay_attempts: 1, max_in_flight: 20}}]
`,
      );
    await using maker = folder.run(["-create-tables", "-config", document("one")]);
    if ((await maker.ended) !== 0) throw new Error(maker.stderr);
    const ids = await fillLetters(letters, ENTRIES);
    const run = (name: Name): Binary => folder.run(["-config", document(name)]);
    const processes = { one: run("one"), other: run("other") };
    for (const process of Object.values(processes)) await process.logged("bridge started");
    return new JobTwins({ shop, ids, processes, folder });
  }

  asking(name: Name) {
    return async (method: string, path: string, body?: unknown): Promise<Told> =>
      askAt(`${await this.run[name].url("admin")}/api/v1/admin${path}`, {
        method,
        headers: { "X-API-Key": ADMIN_KEY },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
  }

  sentBy(name: Name): number {
    return this.shop.paths.filter((path) => path === `/${name}`).length;
  }

  /** A job of `one`, at work; whoever is told to do something looks at the other. */
  async atWork(): Promise<JobBody> {
    const job = await begun(this.asking("one"), { ...AT_ONCE, rate: 20, concurrency: CONCURRENCY });
    await until(
      "at work",
      () => this.sentBy("one") >= 20,
      () => this.shop.asked,
    );
    return jobNow(this.asking("other"), job);
  }

  async taken(job: JobBody): Promise<void> {
    await eventually(
      () => this.asking("other")("GET", `/dlq/jobs/${job.id}`),
      ({ body }) => (body as JobBody).owner === "other",
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of Object.values(this.run)) await process[Symbol.asyncDispose]();
    await this.shop[Symbol.asyncDispose]();
    this.#folder[Symbol.dispose]();
  }
}

/** Waits for its end; all that holds then of what has been delivered and counted. */
export async function completed(twins: JobTwins, job: JobBody): Promise<JobBody> {
  const { shop, ids } = twins;
  const done = await reaches(twins.asking("other"), job, "completed");
  expect(new Set(shop.accepted.keys())).toEqual(new Set(ids));
  expect(done.progress).toMatchObject({ total: ENTRIES, done: ENTRIES, failed: 0 });
  expect(shop.repeated.length).toBeLessThanOrEqual(CONCURRENCY);
  expect(done.progress.in_doubt).toBeGreaterThanOrEqual(shop.repeated.length);
  for (const came of shop.repeated) expect(new Set(came).size).toBe(1);
  return done;
}
