import { openMemoryDlq } from "@bridge/dlq-memory";
import type { DeadLetterHead, DeadLetterQuery } from "@bridge/ports";
import { matchesQuery } from "@bridge/ports/internal";
import { expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { begun, fill, started, stored, until } from "./job-bridge.ts";

const CHANGED = "e00003";

const CHANGES: readonly (readonly [string, Partial<DeadLetterHead>, DeadLetterQuery])[] = [
  ["route_id", { routeId: "q" }, { routeId: "q" }],
  ["binding_id", { bindingId: "q" }, { bindingId: "q" }],
  ["category", { category: "transient" }, { category: "transient" }],
  ["error_code", { errorCode: "TIMEOUT" }, { errorCode: "TIMEOUT" }],
  ["fingerprint", { fingerprint: "0123456789abcdef" }, { fingerprint: "0123456789abcdef" }],
  ["failed_at", { failedAt: 4 }, { since: 4 }],
  ["envelope_id", { envelopeId: "q" }, { envelopeId: "q" }],
  ["correlation_id", { correlationId: "q" }, { correlationId: "q" }],
  ["subject", { subject: "q" }, { subjectPrefix: "q" }],
];

test.each(CHANGES)(
  "a dead letter that its store finds by a changed %s is not sent by a job that does not ask for it, and says why",
  async (_, column, query) => {
    const clock = new FakeClock();
    const dlq = openMemoryDlq({ maxEntries: 100, clock });
    await fill(dlq, 4);
    const page: typeof dlq.page = async (asked, bounds, signal) => {
      const found = await dlq.page({}, bounds, signal);
      const rows = found.entries.map((head) => (head.id === CHANGED ? { ...head, ...column } : head));
      return { ...found, entries: rows.filter((head) => matchesQuery(head, asked)) };
    };
    const facets: typeof dlq.facets = () => Promise.reject(new Error("it counts as pages tell"));
    const bridge = await started({ clock, dlq: { ...dlq, page, facets } });
    const { id, plan } = await begun(bridge, { query });
    expect(plan.predicted).toMatchObject({ examined: 1, deliverable: 0, failed: 1 });
    const { counts, errors } = await until(bridge, id, "completed");
    expect(counts).toMatchObject({ succeeded: 0, failed: 1, skipped: 0 });
    expect(errors).toMatchObject([
      {
        code: "INTERNAL",
        error: expect.stringMatching(/does not match the filter of the job: .*changed its row/) as unknown,
      },
    ]);
    expect(bridge.hub.channel("out").arrived).toBe(0);
    expect(await stored(dlq)).toHaveLength(4);
    expect((await dlq.get(CHANGED, bound()))?.marks?.redrives).toMatchObject({ count: 1, jobId: id });
    await bridge.supervisor.shutdown();
  },
);
