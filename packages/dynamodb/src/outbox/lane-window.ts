import type { OutboxParts } from "./outbox-parts.ts";
import { endOf } from "./hold.ts";
import { type LaneName, shardName, shardNumber, SHARDS } from "./names.ts";
import { contentBytes, type OrderPlace, type StoredRecord } from "./record-item.ts";

/** How many unfinished records of a lane are kept in mind; more are looked up when there is room again. */
const MAX_RECORDS = 10_000;
/** How much content of a lane is kept in memory; the rest is read when it is lent. */
const MAX_CONTENT_BYTES = 16 * 1024 * 1024;

/** A record of the lane that is not known to be finished. */
export interface Waiting {
  readonly key: string;
  readonly place: string;
  readonly shard: number;
  /** What is known of it; `undefined` until it is read. */
  stored: StoredRecord | undefined;
  /** Where the order of its key is, whether the record is known or not. */
  order: OrderPlace | undefined;
  /** It may be lent from then on, as far as is known: monotonic milliseconds. */
  readyAt: number;
  /** Somebody of this process is about to lend it, or has it on loan by this store. */
  busy: boolean;
  ours: boolean;
}

/** What this store knows of one lane: records in the order of their places, and how far it has looked into the index. */
export class LaneWindow {
  readonly name: LaneName;
  readonly #parts: Pick<OutboxParts, "timeline" | "seenAt">;
  readonly #firstShard: number;
  readonly #byKey = new Map<string, Waiting>();
  #sorted: Waiting[] = [];
  #holes = 0;
  #contentBytes = 0;
  /** How far each shard has been looked into. */
  readonly #looked = Array.from({ length: SHARDS }, () => "");
  /** Claims that have lately met with others'. */
  contention = 0;
  /** Looks into the index in a row that found nothing to lend. */
  idleLooks = 0;
  /** While somebody looks into the index. */
  looking: Promise<void> | undefined;
  /** What others have, as far as is known, and holds up what could be lent otherwise. */
  readonly blockers = new Set<Waiting>();
  readonly #unread = new Set<Waiting>();
  /** Every store begins at another shard. */
  #turn: number;
  /** When the index was looked into, in monotonic milliseconds. */
  lookedAt = -Infinity;
  /** When it was looked into from the start. */
  startedAt = -Infinity;

  constructor(name: LaneName, parts: Pick<OutboxParts, "timeline" | "seenAt">, firstShard: number) {
    this.name = name;
    this.#parts = parts;
    this.#turn = firstShard;
    this.#firstShard = firstShard;
  }

  /** The shards in turn. */
  nextShard(): number {
    this.#turn = (this.#turn + 1) % SHARDS;
    return this.#turn;
  }

  /** Whether there are records that are not read, or not any more. */
  get unreadCount(): number {
    return this.#unread.size;
  }

  get full(): boolean {
    return this.#byKey.size >= MAX_RECORDS;
  }

  shardName(shard: number): string {
    return shardName(this.name, shard);
  }

  lookedTo(shard: number): string {
    return this.#looked[shard] ?? "";
  }

  /** Begins to look from the start. */
  lookAnew(): void {
    this.#looked.fill("");
  }

  find(key: string): Waiting | undefined {
    return this.#byKey.get(key);
  }

  /** Oldest first. */
  records(): readonly Waiting[] {
    if (this.#holes > 0) this.#close();
    return this.#sorted;
  }

  /** Oldest first; when claims meet with others', from a shard on where others do not begin. */
  candidates(): readonly Waiting[] {
    if (this.contention === 0) return this.records();
    const turn = (shard: number): number => (shard - this.#firstShard + SHARDS) % SHARDS;
    return this.records().toSorted((a, b) => turn(a.shard) - turn(b.shard));
  }

  /** Oldest first. */
  unreadRecords(limit: number): readonly Waiting[] {
    if (this.#unread.size === 0) return [];
    const idle = [...this.#unread].filter(({ busy }) => !busy);
    return idle.toSorted((a, b) => (a.place < b.place ? -1 : 1)).slice(0, limit);
  }

  /** One that was not known: of our own, or of others. */
  arrived(stored: StoredRecord): void {
    if (!this.full) this.keep(stored);
  }

  /** One that is about to be lent, however many there are. */
  keep(stored: StoredRecord): Waiting {
    const known = this.#byKey.get(stored.key);
    const same = known?.place === stored.place ? known : undefined;
    const record = same ?? this.#enter(stored.key, stored.place, shardNumber(stored.shard));
    this.#learn(record, stored);
    return record;
  }

  /** An item of the index. */
  found(key: string, place: string, shard: number): void {
    this.#looked[shard] = place;
    if (!this.#byKey.has(key)) this.#enter(key, place, shard);
  }

  /** What was read of a record. */
  read(record: Waiting, stored: StoredRecord): void {
    this.#learn(record, stored);
  }

  /** It is not there, is finished, or counts for nothing. */
  drop({ key }: Waiting): void {
    const record = this.#byKey.get(key);
    if (record === undefined) return;
    this.#forgetContent(record);
    this.#byKey.delete(key);
    this.#unread.delete(record);
    this.blockers.delete(record);
    this.#holes++;
  }

  /** What is known of it is not true any more. */
  unread(record: Waiting): void {
    this.#forgetContent(record);
    record.stored = undefined;
    record.readyAt = 0;
    record.ours = false;
    this.#unread.add(record);
  }

  /** It was lent, or given back, by this store: its content is with the borrower. */
  moved(record: Waiting, stored: StoredRecord, ours: boolean): void {
    this.#forgetContent(record);
    const { payload: _, received_payload: __, ...item } = stored.item;
    this.#learn(record, { ...stored, item });
    record.ours = ours;
  }

  #enter(key: string, place: string, shard: number): Waiting {
    const known = this.#byKey.get(key);
    if (known !== undefined) this.drop(known);
    const record: Waiting = {
      key,
      place,
      shard,
      stored: undefined,
      order: undefined,
      readyAt: 0,
      busy: false,
      ours: false,
    };
    this.#byKey.set(key, record);
    this.#unread.add(record);
    if (this.#holes > this.#byKey.size) this.#close();
    const sorted = this.#sorted;
    let index = sorted.length;
    while (index > 0 && (sorted[index - 1]?.place ?? "") > place) index--;
    if (index === sorted.length) sorted.push(record);
    else sorted.splice(index, 0, record);
    return record;
  }

  #close(): void {
    this.#sorted = this.#sorted.filter((record) => this.#byKey.get(record.key) === record);
    this.#holes = 0;
  }

  #learn(record: Waiting, stored: StoredRecord): void {
    const { timeline, seenAt } = this.#parts;
    this.#forgetContent(record);
    record.stored = this.#contentBytes > MAX_CONTENT_BYTES ? withoutContent(stored) : stored;
    this.#contentBytes += contentBytes(record.stored.item);
    this.#unread.delete(record);
    record.order = stored.order;
    record.ours = false;
    const { hold } = stored;
    if (hold === undefined) {
      record.readyAt = 0;
      return;
    }
    record.readyAt = endOf(hold, seen(seenAt, stored, timeline.clock.monotonic()), timeline);
  }

  #forgetContent({ stored }: Waiting): void {
    if (stored !== undefined) this.#contentBytes -= contentBytes(stored.item);
  }
}

function withoutContent(stored: StoredRecord): StoredRecord {
  const { payload: _, received_payload: __, ...item } = stored.item;
  return { ...stored, item };
}

/** When a record was seen first as it is. */
export function seen(seenAt: OutboxParts["seenAt"], { key, place, revision }: StoredRecord, now: number): number {
  // A message that is persisted again begins with the first revision, at another place.
  const name = `${key} ${place} ${revision}`;
  const known = seenAt.get(name);
  if (known === undefined) seenAt.set(name, now);
  return known ?? now;
}
