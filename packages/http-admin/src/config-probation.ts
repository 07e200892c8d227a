import type { ConfigTransactions } from "@bridge/config";
import { type AdminEndpoint, endpoint } from "./admin-endpoint.ts";
import { commitFailed, confirmBody, confirmed, conflicting, revertBody, reverted } from "./config-schemas.ts";

/** The end of a change that reverts itself unless it is confirmed. */
export function configProbationEndpoints(transactions: ConfigTransactions): readonly AdminEndpoint[] {
  return [
    endpoint({
      method: "POST",
      path: "/api/v1/admin/config/confirm",
      access: "admin",
      needs: "config.write",
      audit: "config.confirm",
      begin: { action: "config.confirm.begin", detail: ({ version }) => ({ version }) },
      summary: "Makes the version that is on probation there to stay.",
      body: confirmBody,
      answers: {
        200: { description: "It is committed.", schema: confirmed },
        409: {
          description: "`no_probation`: it is not on probation here; `reverted`: it was taken back.",
          schema: conflicting,
        },
      },
    }).handle(async ({ body: { version } }) => {
      await transactions.confirm(version);
      return { status: 200, body: { status: "committed", version }, audit: { detail: { version } } };
    }),

    endpoint({
      method: "POST",
      path: "/api/v1/admin/config/revert",
      access: "admin",
      needs: "config.write",
      audit: "config.revert",
      begin: { action: "config.revert.begin", detail: ({ version, reason }) => ({ version, reason }) },
      summary: "Takes the version that is on probation back at once.",
      body: revertBody,
      answers: {
        200: { description: "The former version is stored and runs.", schema: reverted },
        409: {
          description: "`no_probation`: it is not on probation here; `reverted`: it was taken back.",
          schema: conflicting,
        },
        500: { description: "The former version is stored and does not run.", schema: commitFailed },
      },
    }).handle(async ({ body: { version, reason } }) => {
      const result = await transactions.revert(version, reason);
      const audit = { detail: { version, reason } };
      if (result.status === "rolled_back") return { status: 200, body: { ...result }, audit };
      return { status: 500, body: { ...result }, audit };
    }),
  ];
}
