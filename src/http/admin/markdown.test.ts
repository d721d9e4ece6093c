import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newSqlite } from "#test/support/database/databases.ts";
import type { DashboardUser } from "#test/support/http/administrators.ts";
import { dashboardUser } from "#test/support/http/administrators.ts";
import type { TestApp } from "#test/support/http/app.ts";
import { startApp } from "#test/support/http/app.ts";

describe("previews of Markdown", () => {
  let app: TestApp;
  let viewer: DashboardUser;
  beforeAll(async () => {
    app = await startApp(newSqlite);
    viewer = await dashboardUser(app, "viewer");
  });
  afterAll(() => app.close());
  const parsed = async (text: string) => {
    const { body } = await viewer.call("POST", "markdown", { text });
    return (body as { readonly blocks: readonly { readonly t: string }[] }).blocks;
  };

  it("are blocks without HTML and without links that run something", async () => {
    expect(await parsed("## Hours\n\n<b>now</b> [x](javascript:alert(1))")).toEqual([
      { t: "h", level: 2, c: ["Hours"] },
      { t: "p", c: ["<b>", "now", "</b>", " ", "x"] },
    ]);
  });

  it("keep the form of long texts", async () => {
    const section = `## Part\n\n${"Words of a section. ".repeat(20)}\n\n- one\n- two\n\n`;
    const blocks = await parsed(section.repeat(400));
    expect(blocks.map(({ t }) => t)).toEqual(Array.from({ length: 400 }, () => ["h", "p", "ul"]).flat());
  });

  it("refuse longer texts than an article may have", async () => {
    const { status } = await viewer.call("POST", "markdown", { text: "x".repeat(200_001) });
    expect(status).toBe(422);
  });
});
