import type { DeadLetter, Envelope } from "@bridge/ports";

/** 2026-01-01, so that times need more than 32 bits. */
export const EPOCH = 1_767_225_600_000;

const TEXT = new TextEncoder().encode("payload");

/** What a case cares about of an entry. */
export type DeadLetterFields = Partial<Omit<DeadLetter, "envelope">> & { readonly envelope?: Partial<Envelope> };

/** An entry that failed when 2026 began; what is not given has a default. */
export function deadLetter(id: string, { envelope, ...fields }: DeadLetterFields = {}): DeadLetter {
  return {
    id,
    routeId: "route",
    bindingId: "binding",
    sourceId: "source",
    correlationId: `correlation-${id}`,
    subject: "subject",
    reason: "permanent failure",
    category: "permanent",
    errorCode: "FORBIDDEN",
    lastError: "403 from the target",
    failedAt: EPOCH,
    attempts: 1,
    ...fields,
    envelope: {
      id: `envelope-${id}`,
      sourceId: "source",
      subject: "subject",
      contentType: "text/plain",
      headers: { plain: "1" },
      payload: TEXT,
      correlationId: `correlation-${id}`,
      receivedAt: EPOCH - 1,
      ...envelope,
    },
  };
}

/** Entries `e0000`, `e0001`, …, each failed a second after the one before, of two routes and three categories in turn. */
export function deadLetters(count: number): readonly DeadLetter[] {
  const categories = ["transient", "permanent", "rejected"] as const;
  return Array.from({ length: count }, (_, i) =>
    deadLetter(`e${String(i).padStart(4, "0")}`, {
      failedAt: at(i),
      routeId: `route-${i % 2}`,
      category: categories[i % 3] ?? "permanent",
    }),
  );
}

/** Thirty of them, for filters. */
export const ENTRIES = deadLetters(30);

/** When the entry with this index failed. */
export function at(index: number): number {
  return EPOCH + index * 1000;
}

/** The ids of those of {@link ENTRIES} that match, oldest first. */
export function idsWhere(condition: (entry: DeadLetter, index: number) => boolean): readonly string[] {
  return ENTRIES.filter(condition).map(({ id }) => id);
}

/** Always the same disorder. */
export function shuffled<T>(items: readonly T[]): readonly T[] {
  return items
    .map((item, i) => ({ item, key: (i * 7919 + 13) % 1009 }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item);
}
