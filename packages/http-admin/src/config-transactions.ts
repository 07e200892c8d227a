import { type CommitResult, type ConfigTransactions, TransactionError } from "@bridge/config";
import { formatTimestamp } from "@bridge/ports/internal";
import type { InferOutput } from "valibot";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import { partsQuery, shownLists, shownParts } from "./config-page.ts";
import * as schemas from "./config-schemas.ts";
import {
  diffToWire,
  dryRunToWire,
  inspectionToWire,
  patchedToWire,
  problemsToWire,
  strandedToWire,
  transactionToWire,
  trialOf,
} from "./config-wire.ts";
import { withReason } from "./operation-status.ts";

const COLLECTION = "/api/v1/admin/config/transactions";
const ONE = `${COLLECTION}/{txnID}` as const;
const REFUSALS = { 404: "There is no such transaction, or it has expired." } as const;
const BUSY = { ...REFUSALS, 409: "The transaction is being committed." } as const;
/** Ends when the work does; each step of it is bounded by itself. */
const NEVER = new AbortController().signal;

interface Named {
  readonly txnID: string;
}

/** Changing the configuration of a bridge that runs, all at once or not at all (spec 3.6, 4.9; contract §2). */
export function configTransactionEndpoints(transactions: ConfigTransactions): readonly AdminEndpoint[] {
  const one = {
    access: "admin" as const,
    needs: "config.write" as const,
    resourceId: ({ txnID }: Named) => txnID,
    params: { txnID: "The id of the transaction." },
    guard: ({ txnID }: Named): void => {
      if (!transactions.has(txnID)) throw new TransactionError("not_found", "transaction not found or expired");
    },
  };
  return [
    endpoint({
      method: "POST",
      path: COLLECTION,
      access: "admin",
      needs: "config.write",
      audit: "config.txn.create",
      summary: "Opens a transaction against the stored version; one at a time.",
      body: schemas.openBody,
      refusals: {
        404: "The version to begin with is not kept.",
        503: "There is no configuration, or it cannot be read.",
      },
      answers: {
        201: { description: "It is open until it expires.", schema: schemas.opened },
        409: {
          description: "Another one is open; `probation`: a change is on probation.",
          schema: schemas.conflicting,
        },
      },
    }).handle(async ({ body: { ttl, from_version: fromVersion } }) => {
      const { config: whole, ...info } = await transactions.open(ttl, NEVER, fromVersion);
      const { shown: config, more } = shownParts(whole);
      const { id, version } = info;
      const from = fromVersion !== undefined && { from_version: fromVersion };
      const audit = { detail: { txn_id: id, version, ...from } };
      const body = { ...transactionToWire(info), config, ...(more !== undefined && { more }) };
      return { status: 201, body, audit };
    }),

    endpoint({
      ...one,
      method: "GET",
      path: ONE,
      audit: "config.txn.read",
      query: partsQuery,
      summary: "What a commit would make of the configuration.",
      refusals: REFUSALS,
      answers: { 200: { description: "The preview, redacted.", schema: schemas.inspected } },
    }).handle(async ({ params: { txnID }, query: { offset } }) => {
      return { status: 200, body: inspectionToWire(await transactions.inspect(txnID), offset) };
    }),

    endpoint({
      ...one,
      method: "PATCH",
      path: ONE,
      audit: "config.txn.patch",
      summary: "Merges a part of a configuration into the preview. Nothing can be removed that way.",
      body: schemas.overlay,
      refusals: BUSY,
      answers: { 200: { description: "The preview, and what is wrong with it so far.", schema: schemas.patched } },
    }).handle(async ({ params: { txnID }, body }) => {
      const result = await transactions.patch(txnID, body, NEVER);
      const audit = { detail: { validation_errors: result.problems.length } };
      return { status: 200, body: patchedToWire(txnID, result), audit };
    }),

    endpoint({
      ...one,
      method: "PUT",
      path: `${ONE}/document`,
      audit: "config.txn.document",
      summary:
        "Puts a whole document in place of the preview: options change that way, too, and what is left out goes.",
      body: schemas.documentBody,
      refusals: { ...BUSY, 404: "There is no such transaction, or the configuration is kept where no texts are." },
      answers: { 200: { description: "The preview, and what is wrong with it so far.", schema: schemas.patched } },
    }).handle(async ({ params: { txnID }, body: { text } }) => {
      const result = await transactions.replace(txnID, text, NEVER);
      const audit = { detail: { validation_errors: result.problems.length } };
      return { status: 200, body: patchedToWire(txnID, result), audit };
    }),

    endpoint({
      ...one,
      method: "GET",
      path: `${ONE}/diff`,
      audit: "config.txn.diff",
      query: partsQuery,
      summary: "What a commit would change, line by line and value by value, and what it would restart.",
      refusals: BUSY,
      answers: { 200: { description: "The difference, redacted.", schema: schemas.configDiff } },
    }).handle(async ({ params: { txnID }, query: { offset } }) => {
      return { status: 200, body: diffToWire(await transactions.diff(txnID, NEVER), offset) };
    }),

    endpoint({
      ...one,
      method: "POST",
      path: `${ONE}/validate`,
      audit: "config.txn.validate",
      summary: "Says what a commit would do, and does nothing.",
      refusals: BUSY,
      answers: { 200: { description: "What it would be refused for, or would restart.", schema: schemas.validated } },
    }).handle(async ({ params: { txnID } }) => {
      const body = dryRunToWire(txnID, await transactions.validate(txnID, NEVER));
      return { status: 200, body, audit: { detail: { valid: body.valid } } };
    }),

    endpoint({
      ...one,
      method: "POST",
      path: `${ONE}/commit`,
      audit: "config.txn.commit",
      begin: {
        action: "config.txn.commit.begin",
        detail: ({ confirm_within: withinMs, reason }) => ({
          ...(withinMs !== undefined && { confirm_within_ms: withinMs }),
          ...(reason !== undefined && { reason }),
        }),
      },
      summary: "Writes the preview as the next version and applies it; goes on when the client disconnects.",
      body: schemas.commitBody,
      refusals: {
        404: "There is no such transaction, or no change can be tried out where the configuration is kept.",
      },
      answers: {
        200: { description: "It runs, to stay or until it is confirmed.", schema: schemas.committed },
        202: { description: "It will run, without anybody doing more.", schema: schemas.committedApplying },
        409: {
          description:
            "Another hand has changed the configuration, or it cannot be written to; `probation`: another instance has a change on probation; `not_running`: nothing runs that could try it out, and the transaction stays open.",
          schema: schemas.conflicting,
        },
        422: { description: "Refused; the transaction stays open.", schema: schemas.commitRefused },
        500: { description: "It does not run.", schema: schemas.commitFailed },
      },
    }).handle(async ({ params: { txnID }, actor, body }) => {
      return replyTo(await transactions.commit(txnID, actor, trialOf(body)));
    }),

    endpoint({
      ...one,
      method: "DELETE",
      path: ONE,
      audit: "config.txn.rollback",
      summary: "Discards the transaction.",
      refusals: BUSY,
      answers: { 200: { description: "It is gone.", schema: schemas.rolledBack } },
    }).handle(({ params: { txnID } }) => {
      transactions.rollback(txnID);
      return { status: 200, body: { status: "rolled_back" } };
    }),
  ];
}

/** Spec 4.9, the table of outcomes. */
function replyTo(result: CommitResult) {
  switch (result.status) {
    case "erases_options":
      return refused({ error: "config commit would erase plugin options" });
    case "invalid":
      return refused({ error: "config validation failed", validation_errors: problemsToWire(result.problems) });
    case "stranding": {
      const { shown, more } = shownLists({ stranded: strandedToWire(result.stranding) });
      return refused({ error: result.stranding.message, ...shown, ...(more !== undefined && { more }) });
    }
    case "conflict":
      throw withReason(409, result.error, result.reason);
    case "committed":
      return { status: 200 as const, body: { status: result.status, version: result.version }, ...detail(result) };
    case "probation": {
      const { status, version, formerVersion, confirmBy } = result;
      const body = { status, version, former_version: formerVersion, confirm_by: formatTimestamp(confirmBy) };
      return { status: 200 as const, body, ...detail(result) };
    }
    case "committed_applying":
      return { status: 202 as const, body: { status: result.status, version: result.version }, ...detail(result) };
    case "rolled_back":
    case "committed_not_applied":
      return { status: 500 as const, body: { ...result }, ...detail(result) };
  }
}

function refused(body: InferOutput<typeof schemas.commitRefused>) {
  return { status: 422 as const, body, audit: { detail: { status: 422, error: body.error } } };
}

function detail({ status, version }: { readonly status: string; readonly version: number }) {
  return { audit: { detail: { status, version } } };
}
