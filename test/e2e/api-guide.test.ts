import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { problemStatus } from "#domain/problem.ts";
import { problemMeaning } from "#http/problem.ts";
import { startGateway } from "../support/program.ts";

interface Example {
  readonly title: string;
  readonly command: string;
  /** What the guide shows below it. */
  readonly shown: string | undefined;
  readonly language: string | undefined;
}

const guide = await readFile(new URL("../../docs/api.md", import.meta.url), "utf8");

/** The commands with curl, each with the block that follows it at once, if one does. */
const examples: readonly Example[] = guide.split(/^## /m).flatMap((section) => {
  const [title = ""] = section.split("\n", 1);
  return [...section.matchAll(/```sh\n([^]*?)```\n(?:\n```(json|text)\n([^]*?)```)?/g)]
    .map(([, command = "", language, shown]) => ({ title, command, language, shown }))
    .filter(({ command }) => command.includes("curl "));
});

/** Kinds instead of values; null and what is empty stand for anything. */
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

it("lists the codes of errors as the program has them", () => {
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

it("works from top to bottom on a fresh installation, and shows what is answered", { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-guide-"));
  const gateway = await startGateway({ PARLEY_DATA_DIR: join(folder, "data") });
  try {
    await expect.poll(gateway.printed, { timeout: 60_000 }).toContain("documents add");
    const printed = gateway.printed();
    // Makes curl say by its exit status what the server said.
    await writeFile(join(folder, ".curlrc"), "fail-with-body\n");
    const environment = join(folder, "environment");
    await writeFile(environment, "");
    const env = {
      PATH: process.env["PATH"] ?? "",
      CURL_HOME: folder,
      PARLEY_URL: gateway.url,
      PARLEY_KEY: /ak_\w+/.exec(printed)?.[0] ?? "",
      WORKSPACE_ID: /wt_\w+/.exec(printed)?.[0] ?? "",
    };
    const run = async ({ command }: Example): Promise<{ readonly status: number; readonly stdout: string }> => {
      const script = `set -euo pipefail\n. "${environment}"\n${command}\nexport -p > "${environment}"\n`;
      try {
        const { stdout } = await promisify(execFile)("bash", ["-c", script], { cwd: folder, env });
        return { status: 0, stdout };
      } catch (error) {
        const failed = error as { readonly code: number; readonly stdout: string };
        return { status: failed.code, stdout: failed.stdout };
      }
    };
    expect(examples.length).toBeGreaterThan(15);
    for (const example of examples) {
      const { status, stdout } = await run(example);
      const json = example.language === "json" ? (JSON.parse(example.shown ?? "") as object) : undefined;
      const refused = json !== undefined && "code" in json;
      expect({ of: example.title, status, stdout }).toMatchObject({ status: refused ? 22 : 0 });
      if (json !== undefined) {
        expect(JSON.parse(stdout), example.title).toEqual(shape(json));
        if (refused) expect(JSON.parse(stdout)).toMatchObject({ code: json.code });
      }
      if (example.language === "text") {
        const events = (text: string) => [...new Set([...text.matchAll(/^event: \w+$/gm)].map(([line]) => line))];
        expect(events(stdout)).toEqual(events(example.shown ?? ""));
      }
    }
  } finally {
    await gateway.stop();
    await rm(folder, { recursive: true, force: true });
  }
});
