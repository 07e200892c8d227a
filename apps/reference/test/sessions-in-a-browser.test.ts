import { certificates } from "@bridge/tooling/certificates";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { PATIENCE } from "@bridge/tooling/patience";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ask } from "./support/ask.ts";
import type { Binary } from "./support/binary.ts";
import { EmptyPages, noBrowser, startBrowser } from "./support/browser.ts";
import { INSIDE } from "./support/documents.ts";
import { ADMIN_KEY, Folder, HTTP } from "./support/folder.ts";

const SESSION = "/api/v1/admin/session";
const PAUSE = "/api/v1/admin/routes/only/pause";

interface Sent {
  readonly status: number;
  readonly body: unknown;
}

interface Sending {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly credentials?: "include";
  readonly mode?: "no-cors";
}

/** Calls a function in the page. As text: what it uses there is nothing that there is here. */
function inPage(page: Page, script: string, ...given: readonly unknown[]): Promise<unknown> {
  return page.evaluate(`(${script})(...${JSON.stringify(given)})`);
}

/** What a script of the page is answered; `"refused"`: its browser tells it nothing. */
async function send(page: Page, url: string, init: Sending = {}): Promise<Sent | "refused"> {
  const script = `async (to, how) => {
    try {
      const response = await fetch(to, how);
      return { status: response.status, body: await response.json().catch(() => undefined) };
    } catch {
      return "refused";
    }
  }`;
  return (await inPage(page, script, url, init)) as Sent | "refused";
}

/** Whether an image of this address is shown. */
const SHOW = `(src) => new Promise((resolve) => {
  const image = document.createElement("img");
  image.onload = () => resolve(true);
  image.onerror = () => resolve(false);
  image.src = src;
})`;

const SUBMIT = `(action) => {
  const form = document.createElement("form");
  Object.assign(form, { method: "POST", enctype: "text/plain", action });
  document.body.append(form);
  form.submit();
}`;

const CONSOLE = { "X-Bridge-Console": "1" };

describe.skipIf(noBrowser)("operators 5.4: in a browser", () => {
  let browser: Browser;
  let pages: EmptyPages;
  const folder = new Folder();
  beforeAll(async () => {
    [browser, pages] = await Promise.all([startBrowser(), EmptyPages.start()]);
  }, PATIENCE.timeout);
  afterAll(async () => {
    await browser.close();
    await pages[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  /** A page of the server itself, signed in. Until there is a console, its refusals are its pages. */
  async function signedIn(context: BrowserContext, admin: string): Promise<Page> {
    const page = await context.newPage();
    await page.goto(`${admin}/`);
    const headers = { "X-API-Key": ADMIN_KEY };
    expect(await send(page, SESSION, { method: "POST", headers })).toMatchObject({ status: 201 });
    return page;
  }

  async function started(document = INSIDE): Promise<Binary> {
    folder.write("bridge.yaml", document);
    const bridge = folder.run();
    await bridge.logged("bridge started");
    return bridge;
  }

  const refusals = (bridge: Binary, reason?: string) =>
    bridge.log.filter(
      ({ action, detail }) =>
        action === "auth.failure" && (detail as { readonly reason?: string } | undefined)?.reason === reason,
    ).length;

  // Over plain HTTP a browser takes this machine for a secure context, and nothing else: `Sec-Fetch-Site` is then missing.
  test.each(["127.0.0.1", "plant.test"])("a session of http://%s is its own page's alone", async (host) => {
    await using bridge = await started();
    const direct = await bridge.url("admin");
    const { port } = new URL(direct);
    const admin = `http://${host}:${port}`;
    await using context = await browser.newContext();
    const page = await signedIn(context, admin);

    // No script sees the cookie, nothing is kept, and it stays over a reload.
    const seen = await page.evaluate("[document.cookie, localStorage.length, sessionStorage.length]");
    expect(seen).toEqual(["", 0, 0]);
    const [cookie] = await context.cookies(admin);
    expect(cookie).toMatchObject({ httpOnly: true, secure: false, sameSite: "Strict", path: "/" });
    expect(cookie?.name).toMatch(/^bridge-[0-9a-f]{8}$/);
    await page.reload();
    expect(await send(page, SESSION)).toMatchObject({ status: 200, body: { actor: "admin" } });
    const csrf = { status: 403, body: { error: "cross-site request refused", reason: "csrf" } };
    expect(await send(page, PAUSE, { method: "POST" })).toEqual(csrf);
    expect(await send(page, "/api/v1/admin/bridge/start", { method: "POST", headers: CONSOLE })).toMatchObject({
      status: 200,
    });

    const nothingDone = async (): Promise<void> => {
      const { body } = await ask(`${direct}/api/v1/admin/routes`);
      expect(JSON.stringify(body)).not.toContain('"paused":true');
    };
    /** Whatever a page can make a browser send. */
    const attack = async (from: string, target: string): Promise<void> => {
      const foreign = await context.newPage();
      await foreign.goto(`${from}/`);
      const include = { credentials: "include" } as const;
      expect(await send(foreign, target + SESSION, include)).toBe("refused");
      expect(await send(foreign, target + PAUSE, { ...include, method: "POST", headers: CONSOLE })).toBe("refused");
      await send(foreign, target + PAUSE, { ...include, method: "POST", mode: "no-cors" });
      expect(await inPage(foreign, SHOW, target + SESSION)).toBe(false);
      await Promise.all([
        // A page that is closed while it goes somewhere may hang: the answer is shown first.
        foreign.waitForURL(target + PAUSE, { waitUntil: "load" }),
        inPage(foreign, SUBMIT, target + PAUSE),
      ]);
      await foreign.close();
      await nothingDone();
    };

    // Of another port of the same host, which is the same site: the cookie comes along.
    const before = refusals(bridge, "csrf");
    await attack(`http://${host}:${pages.port}`, admin);
    // The no-cors fetch and the form; and, where the browser says so, whatever only looks.
    const least = host === "127.0.0.1" ? 4 : 2;
    await vi.waitFor(() => expect(refusals(bridge, "csrf") - before).toBeGreaterThanOrEqual(least), PATIENCE);

    // Of another site: it does not.
    const strangers = refusals(bridge);
    await attack(`http://evil.test:${pages.port}`, admin);
    await vi.waitFor(() => expect(refusals(bridge)).toBeGreaterThan(strangers), PATIENCE);

    // A name that leads here, of which the page and the server are one origin: the cookie is not this name's.
    const rebound = await context.newPage();
    await rebound.goto(`http://rebound.test:${port}/`);
    for (const [to, init] of [[SESSION], [PAUSE, { method: "POST", headers: CONSOLE }]] as const) {
      const answered = await send(rebound, to, init);
      expect([401, 429]).toContain(answered === "refused" ? answered : answered.status);
    }
    await nothingDone();

    // None of this was held against who is signed in.
    expect(await send(page, SESSION)).toMatchObject({ status: 200 });
    expect(await send(page, SESSION, { method: "DELETE", headers: CONSOLE })).toMatchObject({ status: 200 });
    expect(await context.cookies(admin)).toEqual([]);
    expect((await send(page, SESSION)) as Sent).not.toMatchObject({ status: 200 });
  });

  test("over TLS the cookie is bound to the host", async () => {
    using made = certificates("server");
    const tls = `, tls_cert_file: "${made.path("server.crt")}", tls_key_file: "${made.path("server.key")}"}`;
    await using bridge = await started(INSIDE.replace(HTTP, HTTP.replace("}", tls)));
    const admin = await bridge.url("admin");
    await using context = await browser.newContext({ ignoreHTTPSErrors: true });
    const page = await signedIn(context, admin);
    expect(await context.cookies(admin)).toMatchObject([
      {
        name: expect.stringMatching(/^__Host-bridge-[0-9a-f]{8}$/) as string,
        httpOnly: true,
        secure: true,
        sameSite: "Strict",
      },
    ]);
    expect(await page.evaluate("document.cookie")).toBe("");
    expect(await send(page, PAUSE, { method: "POST", headers: CONSOLE })).toMatchObject({ status: 200 });
  });
});
