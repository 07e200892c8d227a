import { describe, expect, test } from "vitest";
import { RotatingKeys, serverKeys } from "../src/index.ts";

const OLD = "old-key-0123456789";
const NEW = "new-key-0123456789";
const MONITOR = "monitor-key-0123456789";

describe("the keys of the servers", () => {
  test("spec 5.2: an admin key opens the monitor server too, under its own name", () => {
    const keys = serverKeys({ adminApiKeys: { alice: OLD }, monitorApiKey: MONITOR, monitorApiKeys: { grafana: NEW } });
    expect(keys.admin?.identify(OLD)).toBe("alice");
    expect(keys.admin?.identify(MONITOR)).toBeUndefined();
    expect(keys.monitor.identify(OLD)).toBe("alice");
    expect(keys.monitor.identify(MONITOR)).toBe("monitor");
    expect(keys.monitor.identify(NEW)).toBe("grafana");
  });

  test("a monitor key that is an admin's too is known", () => {
    expect(serverKeys({ adminApiKey: OLD, monitorApiKey: OLD }).shared).toBe(true);
    expect(serverKeys({ adminApiKeys: { alice: OLD }, monitorApiKeys: { grafana: OLD } }).shared).toBe(true);
    expect(serverKeys({ adminApiKey: OLD, monitorApiKey: MONITOR }).shared).toBe(false);
    const rotating = new RotatingKeys({ adminApiKey: OLD });
    rotating.replace({ adminApiKey: NEW, monitorApiKey: NEW });
    expect(rotating.shared).toBe(true);
  });

  test("without an admin key there is no admin server", () => {
    expect(serverKeys({ monitorApiKey: MONITOR }).admin).toBeUndefined();
  });

  test("are exchanged while the servers use them", () => {
    const keys = new RotatingKeys({ adminApiKey: OLD });
    const { admin, monitor } = keys;
    keys.replace({ adminApiKey: NEW });
    expect(admin?.identify(OLD)).toBeUndefined();
    expect(admin?.identify(NEW)).toBe("admin");
    expect(monitor.identify(NEW)).toBe("admin");
  });

  test.each([
    [{ adminApiKey: "short" }, "too short"],
    [{ adminApiKey: NEW, monitorApiKey: "short" }, "too short"],
    [{ adminApiKeys: { Alice: NEW } }, "is invalid"],
    [{ monitorApiKey: MONITOR }, "the admin server needs a key"],
  ])("which are malformed replace none: %j", (malformed, message) => {
    const keys = new RotatingKeys({ adminApiKey: OLD });
    expect(() => keys.replace(malformed)).toThrow(message);
    expect(keys.admin?.identify(OLD)).toBe("admin");
    expect(keys.monitor.identify(OLD)).toBe("admin");
  });
});
