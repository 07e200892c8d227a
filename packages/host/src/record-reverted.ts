import type { Auditor } from "@bridge/audit";
import type { Reverted } from "@bridge/config";

/** Records a change that was taken back: done by the process, in the name of who had committed it. */
export function recordReverted(auditor: Auditor, { version, formerVersion, why, detail, actor }: Reverted): void {
  const said = detail !== undefined && { reason: detail };
  void auditor.record({
    action: "config.reverted",
    actor,
    outcome: "success",
    clientAddr: "",
    detail: { version, former_version: formerVersion, why, ...said },
  });
}
