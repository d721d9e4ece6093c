import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { readConfigFile } from "#config/file.ts";
import { problemStatus } from "#domain/problem.ts";
import { problemMeaning } from "#http/problem.ts";
import { noBrowser, openBrowser } from "../support/browser.ts";
import type { CommandResult } from "../support/program/program.ts";
import { startGateway } from "../support/program/program.ts";
import { skipped } from "../support/skipped.ts";
import { projectDir } from "../support/project/source-tree.ts";
import { isFullTier } from "../support/tier.ts";

interface Example {
  readonly title: string;
  readonly command: string;
  /** The output that the guide shows below the command. */
  readonly shown: string | undefined;
  readonly language: string | undefined;
}

const guide = await readFile(join(projectDir, "docs/api.md"), "utf8");
const readme = await readFile(join(projectDir, "README.md"), "utf8");

/** Every command of a page, with the block that follows it directly, if any. */
function examplesOf(page: string): readonly Example[] {
  return page.split(/^## /m).flatMap((section) => {
    const [title = ""] = section.split("\n", 1);
    const blocks = section.matchAll(/```sh\n([^]*?)```\n(?:\n(?:[^\n`#]+\n\n)?```(json|text)\n([^]*?)```)?/g);
    return [...blocks].map(([, command = "", language, shown]) => ({ title, command, language, shown }));
  });
}

const examples = examplesOf(guide);

const blocksOf = (page: string, language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm"))].map(([, block = ""]) => block);

it.each([...blocksOf(readme, "yaml"), ...blocksOf(guide, "yaml")])("shows a valid configuration: %s", (block) => {
  const env = Object.fromEntries([...block.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => [name, "1234567:a-token"]));
  expect(readConfigFile("parley.yaml", block, env).workspaces).toHaveLength(1);
});

/** The test runs these itself, or Docker is missing; `test/conformance/container.test.ts` checks the Compose file. */
const notRun = /^(?:npm ci|npm start|docker compose .*)$/gm;

/** Copies what a checkout contains, so that the commands write nothing to the project. */
async function checkout(folder: string): Promise<void> {
  for (const name of ["adapters", "bin", "dist", "docs", "node_modules", "src", "package.json"]) {
    await symlink(join(projectDir, name), join(folder, name));
  }
  for (const name of ["config", ".env.example"]) {
    await cp(join(projectDir, name), join(folder, name), { recursive: true });
  }
}

/** Types in place of values; null and empty values match anything. */
function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? expect.any(Array) : expect.arrayContaining([shape(value[0])]);
  if (value === null) return expect.toSatisfy(() => true);
  if (typeof value !== "object") return expect.toSatisfy((found) => typeof found === typeof value);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shape(inner)]));
}

it("has an example of every operation", async () => {
  const used = examples.map(({ command }) => command).join("\n");
  for (const call of [
    /v1\/query"/,
    /v1\/query\/stream"/,
    /v1\/conversations\?/,
    /v1\/conversations\/\$CONVERSATION_ID" -H/,
    /v1\/conversations\/\$CONVERSATION_ID\/messages\?/,
    /v1\/conversations\/\$CONVERSATION_ID\/messages" \\/,
    /v1\/conversations\/\$CONVERSATION_ID\/notes"/,
    /v1\/conversations\/bulk"/,
    /-X PATCH "\$PARLEY_URL\/v1\/conversations\/\$CONVERSATION_ID"/,
    /-X DELETE "\$PARLEY_URL\/v1\/conversations\/\$CONVERSATION_ID"/,
    /v1\/documents\/upload"/,
    /v1\/documents\?/,
    /v1\/documents\/\$DOCUMENT_ID" -H/,
    /-X DELETE "\$PARLEY_URL\/v1\/documents\/\$DOCUMENT_ID"/,
  ]) {
    expect(used).toMatch(call);
  }
});

it("lists the program's error codes", () => {
  const rows = [...guide.matchAll(/^\| (\d{3}) \| `(\w+)` \| (.+) \|$/gm)].map(([, status, code, meaning]) => [
    code,
    Number(status),
    meaning,
  ]);
  const known = Object.entries(problemStatus).map(([code, status]) => [
    code,
    status,
    problemMeaning[code as keyof typeof problemMeaning],
  ]);
  const byCode = (a: readonly unknown[], b: readonly unknown[]) => String(a[0]).localeCompare(String(b[0]));
  expect(rows.toSorted(byCode)).toEqual(known.toSorted(byCode));
});

describe("on a fresh installation", () => {
  let folder: string;
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "parley-guide-"));
    await checkout(folder);
    // Makes curl fail on error statuses and print the body.
    await writeFile(join(folder, ".curlrc"), "fail-with-body\n");
    gateway = await startGateway({ PARLEY_DATA_DIR: join(folder, "data") });
    await eventually(() => gateway.printed().includes("Set it up"));
  });
  afterAll(async () => {
    await gateway.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it.each([["README.md", examplesOf(readme)], ...(isFullTier ? ([["docs/api.md", examples]] as const) : [])] as const)(
    "runs every block of %s, and shows the actual answers",
    { timeout: 180_000 },
    async (page, all) => {
      const environment = join(folder, "environment");
      await writeFile(environment, "");
      const { PATH = "", HOME = "" } = process.env;
      const env = { PATH, HOME, CURL_HOME: folder, PARLEY_DATA_DIR: join(folder, "data") };
      const run = async ({ command }: Example): Promise<CommandResult> => {
        const here = command.replaceAll("http://127.0.0.1:8080", gateway.url).replaceAll(notRun, "");
        const script = `set -euo pipefail\n. "${environment}"\n${here}\nexport -p > "${environment}"\n`;
        try {
          return { status: 0, ...(await promisify(execFile)("bash", ["-c", script], { cwd: folder, env })) };
        } catch (error) {
          const { code, stdout, stderr } = error as Omit<CommandResult, "status"> & { readonly code: number };
          return { status: code, stdout, stderr };
        }
      };
      expect(all.length).toBeGreaterThan(page === "README.md" ? 5 : 20);
      for (const example of all) compare(example, await run(example));
    },
  );

  const script = "puts the widget on a page of one's own";
  if (noBrowser !== undefined) return skipped(script, noBrowser);
  it.each([...blocksOf(readme, "html"), ...blocksOf(guide, "html")])(`${script} by %s`, async (block) => {
    const [id = ""] = /wt_[a-z0-9_]+/.exec(await (await fetch(`${gateway.url}/demo`)).text()) ?? [];
    const html = block.replace("http://127.0.0.1:8080", gateway.url).replace("WORKSPACE_ID", id);
    const shop = createServer((_request, response) => {
      response
        .writeHead(200, { "content-type": "text/html" })
        .end(`<!doctype html><html lang="de"><body>${html}</body>`);
    }).listen(0, "127.0.0.1");
    const browser = await openBrowser();
    try {
      await eventually(() => shop.listening);
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${(shop.address() as AddressInfo).port}/`);
      await page.getByRole("button", { name: "Chat öffnen" }).click();
      await page.getByText("Antwortet aus unserer Dokumentation").waitFor();
    } finally {
      await browser.close();
      shop.close();
    }
  });
});

function compare({ title, language, shown = "" }: Example, { status, stdout, stderr }: CommandResult): void {
  const json = language === "json" ? (JSON.parse(shown) as object) : undefined;
  const refused = json !== undefined && "code" in json;
  expect(status, `${title}: ${stdout}${stderr}`).toBe(refused ? 22 : 0);
  if (json !== undefined) {
    expect(JSON.parse(stdout), title).toEqual(shape(json));
    if (refused) expect(JSON.parse(stdout)).toMatchObject({ code: json.code });
    return;
  }
  if (language !== "text") return;
  const events = (text: string) => [...new Set([...text.matchAll(/^event: \w+$/gm)].map(([line]) => line))];
  expect(events(stdout)).toEqual(events(shown));
}

it("shows values, not ellipses, where a value is expected", () => {
  for (const page of [guide, readme]) {
    for (const [block] of page.matchAll(/^```[^]*?^```$/gm)) expect(block).not.toContain("…");
  }
});
