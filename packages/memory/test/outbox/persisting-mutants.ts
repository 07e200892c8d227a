import { setImmediate as turn } from "node:timers/promises";
import type { OutboxClaim, OutboxRecord } from "@bridge/ports";
import { ALL, type Mutant, type Mutate, onClaim, onEnvelope, onRecord } from "./mutant.ts";

/** Faults of keeping records and of telling repeats. */
export const PERSISTING_MUTANTS: readonly Mutant[] = [
  {
    fault: "forgets the last byte of a payload",
    caughtBy: "gives back every byte, 0x00 and 0xff first and last",
    mutate: onEnvelope(({ payload }) => ({ payload: payload.subarray(0, -1) })),
  },
  {
    fault: "stores payloads as text",
    caughtBy: "gives back every byte, 0x00 and 0xff first and last",
    mutate: onEnvelope(({ payload }) => ({ payload: new TextEncoder().encode(new TextDecoder().decode(payload)) })),
  },
  {
    fault: "stores the buffer that a payload is part of",
    caughtBy: "gives back a payload that was part of a larger buffer",
    mutate: onEnvelope(({ payload }) => ({ payload: new Uint8Array(payload.buffer) })),
  },
  {
    fault: "cuts payloads off at 64 KB",
    caughtBy: "gives back a payload of 1 MB",
    mutate: onEnvelope(({ payload }) => ({ payload: payload.subarray(0, 65_535) })),
  },
  {
    fault: "forgets the expiry",
    caughtBy: "gives back every field",
    mutate: onEnvelope(() => ({ expiresAt: undefined })),
  },
  {
    fault: "copies headers by assignment",
    caughtBy: "gives back headers named as what every object has",
    mutate: onEnvelope(({ headers }) => {
      const copy: Record<string, string> = {};
      for (const [name, value] of Object.entries(headers)) copy[name] = value;
      return { headers: copy };
    }),
  },
  {
    fault: "takes an empty binding for one that has a name",
    caughtBy: "gives back what is empty",
    mutate: onRecord(({ bindingId, ...record }) => ({ ...record, bindingId: bindingId || "default" })),
  },
  {
    fault: "keeps what is to be sent as what was received",
    caughtBy: "gives back what was received and what is to be sent, each for itself",
    mutate: onRecord((record) => ({ ...record, ...(record.received && { received: record.envelope }) })),
  },
  {
    fault: "gives out what is to be sent as received when nothing changed it",
    caughtBy: "gives back every field",
    mutate: onClaim((claim) => ({ ...claim, record: { received: claim.record.envelope, ...claim.record } })),
  },
  {
    fault: "sends what was received when the payload is empty",
    caughtBy: "gives back a payload that a processor emptied, and what it was",
    mutate: onRecord(({ received, ...record }) =>
      record.envelope.payload.length === 0 && received !== undefined
        ? { ...record, received, envelope: { ...record.envelope, payload: received.payload } }
        : { ...record, received },
    ),
  },
  {
    fault: "keeps the bytes that it was given",
    caughtBy: "does not follow when the bytes it was given change",
    mutate(store, options) {
      const given = new Map<string, OutboxRecord>();
      return {
        async persist(records, signal) {
          for (const record of records) given.set(record.id, record);
          return store.persist(records, signal);
        },
        ...onClaim((claim) => ({ ...claim, record: given.get(claim.record.id) ?? claim.record }))(store, options),
      };
    },
  },
  {
    fault: "gives out its own bytes",
    caughtBy: "does not follow when the bytes it gave out change",
    mutate(store, options) {
      const own = new Map<string, OutboxRecord>();
      const ownOf = ({ record }: OutboxClaim): OutboxRecord => {
        const kept = own.get(record.id) ?? record;
        own.set(record.id, kept);
        return kept;
      };
      return onClaim((claim) => ({ ...claim, record: ownOf(claim) }))(store, options);
    },
  },
  {
    fault: "lends 200 records at most",
    caughtBy: "keeps hundreds of records, those of one call and those of many",
    mutate: (store) => ({
      claim: (request, signal) => store.claim({ ...request, limit: Math.min(200, request.limit) }, signal),
    }),
  },
  {
    fault: "looks at envelope ids alone",
    caughtBy: "the same message on another route or binding is no duplicate",
    mutate: (store) => ({
      async persist(records, signal) {
        const heads = await store.list({}, ALL, signal);
        const results = await store.persist(records, signal);
        return results.map((result, i) => {
          const there = [
            ...heads.map(({ id, envelopeId }) => ({ id, envelopeId })),
            ...named(records.slice(0, i)),
          ].find(({ envelopeId }) => envelopeId === records[i]?.envelope.id);
          return there === undefined ? result : { kind: "duplicate", id: there.id, status: "pending" };
        });
      },
    }),
  },
  {
    fault: "looks at envelope ids whatever the identity",
    caughtBy: "a repeat under an identity of its own is a duplicate, whatever its envelope's id",
    mutate: onRecord((record) => ({ ...record, identity: undefined })),
  },
  {
    fault: "takes an identity for the id of a message",
    caughtBy: "an identity of its own and the id of a message are told apart, however alike",
    mutate: onRecord(({ identity, ...record }) => ({
      ...record,
      envelope: { ...record.envelope, id: identity ?? record.envelope.id },
    })),
  },
  {
    fault: "runs the names of route, binding and message together",
    caughtBy: "names that would run together are told apart",
    mutate: joining("|"),
  },
  {
    fault: "puts a NUL between the names of route, binding and message",
    caughtBy: "names that would run together are told apart",
    mutate: joining("\0"),
  },
  {
    fault: "takes another payload for a repeat",
    caughtBy: "another payload under the same id is a conflict, and nothing of it is written",
    mutate: onRecord((record) => ({ ...record, payloadDigest: "" })),
  },
  {
    fault: "writes what is in conflict under another id",
    caughtBy: "another payload under the same id is a conflict, and nothing of it is written",
    mutate: (store) => ({
      async persist(records, signal) {
        const results = await store.persist(records, signal);
        const refused = records.filter((_, i) => results[i]?.kind === "conflict");
        const renamed = refused.map((record) => ({ ...record, envelope: { ...record.envelope, id: record.id } }));
        await store.persist(renamed, signal);
        return results;
      },
    }),
  },
  {
    fault: "lets a repeat overwrite",
    caughtBy: "a repeat of a pending record is a duplicate of it",
    mutate(store, options) {
      const latest = new Map<string, OutboxRecord>();
      return {
        async persist(records, signal) {
          for (const record of records) latest.set(record.envelope.id, record);
          return store.persist(records, signal);
        },
        ...onClaim((claim) => {
          const address = latest.get(claim.record.envelope.id)?.address ?? claim.record.address;
          return { ...claim, record: { ...claim.record, address } };
        })(store, options),
      };
    },
  },
  {
    fault: "names the repeat instead of the record",
    caughtBy: "saying the same record again is a duplicate of itself",
    mutate: (store) => ({
      async persist(records, signal) {
        const results = await store.persist(records, signal);
        return results.map((result) =>
          result.kind === "duplicate" ? { ...result, id: `${result.id}-again` } : result,
        );
      },
    }),
  },
  ...(["delivered", "given up"] as const).map((end): Mutant => ({
    fault: `says that what was ${end} is pending`,
    caughtBy:
      end === "delivered"
        ? "a repeat of a delivered record is a duplicate of it"
        : "a repeat of a record that was given up is a duplicate of it",
    mutate: (store) => ({
      async persist(records, signal) {
        const results = await store.persist(records, signal);
        return results.map((result) => (result.kind === "duplicate" ? { ...result, status: "pending" } : result));
      },
    }),
  })),
  {
    fault: "takes nothing of a call that has a repeat in it",
    caughtBy: "answers for each record of a call, and takes those that are new",
    mutate: (store) => ({
      async persist(records, signal) {
        const there = new Set((await store.list({}, ALL, signal)).map(({ envelopeId }) => envelopeId));
        if (!records.some(({ envelope }) => there.has(envelope.id))) return store.persist(records, signal);
        const repeats = records.filter(({ envelope }) => there.has(envelope.id));
        const results = await store.persist(repeats, signal);
        return records.map((record) => results[repeats.indexOf(record)] ?? { kind: "persisted" });
      },
    }),
  },
  {
    fault: "tells every racer that its record is persisted",
    caughtBy: "of one message that is persisted at once, one record is kept",
    mutate: (store) => ({
      async persist(records, signal) {
        const before = new Set((await store.list({}, ALL, signal)).map(({ envelopeId }) => envelopeId));
        await turn();
        const results = await store.persist(records, signal);
        return results.map((result, i) =>
          before.has(records[i]?.envelope.id ?? "") || result.kind === "conflict" ? result : { kind: "persisted" },
        );
      },
    }),
  },
  {
    fault: "forgets evidence early",
    caughtBy: "evidence stays to the last millisecond of the retention",
    options: ({ retentionMs }) => ({ retentionMs: retentionMs / 2 }),
  },
  {
    fault: "forgets what is delivered with the next look through its records",
    caughtBy: "evidence stays while the retention lasts",
    options: () => ({ retentionMs: 0 }),
  },
  {
    fault: "keeps evidence forever",
    caughtBy: "evidence that is older than the retention is forgotten, delivered or dead",
    options: () => ({ retentionMs: Infinity }),
  },
  {
    fault: "forgets whatever is old",
    caughtBy: "what is not finished is never forgotten",
    mutate(store, { clock, retentionMs }) {
      const persistedAt = new Map<string, number>();
      return {
        async persist(records, signal) {
          for (const { id } of records) persistedAt.set(id, clock.monotonic());
          return store.persist(records, signal);
        },
        async list(filter, page, signal) {
          const heads = await store.list(filter, page, signal);
          return heads.filter(({ id }) => (persistedAt.get(id) ?? 0) > clock.monotonic() - retentionMs);
        },
      };
    },
  },
];

function named(records: readonly OutboxRecord[]): readonly { readonly id: string; readonly envelopeId: string }[] {
  return records.map(({ id, envelope }) => ({ id, envelopeId: envelope.id }));
}

function joining(glue: string): Mutate {
  return (store) => ({
    async persist(records, signal) {
      const seen = new Map<string, string>();
      const results = await store.persist(records, signal);
      return results.map((result, i) => {
        const { id = "", routeId, bindingId, envelope } = records[i] ?? {};
        const identity = [routeId, bindingId, envelope?.id].join(glue);
        const there = seen.get(identity);
        seen.set(identity, there ?? id);
        return there === undefined ? result : { kind: "duplicate", id: there, status: "pending" };
      });
    },
  });
}
